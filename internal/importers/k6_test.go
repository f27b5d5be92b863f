// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// point returns a k6 point at a second, with tags.
func point(metric string, second int, value float64, tags string) string {
	return fmt.Sprintf(`{"type":"Point","metric":%q,"data":{"time":"2025-01-03T08:00:%02dZ","value":%g,"tags":{%s}}}`+"\n", metric, second, value, tags)
}

// Requests of setup and teardown are not part of the load.
func TestK6SetupIsNoLoad(t *testing.T) {
	load := point("http_req_duration", 10, 100, `"name":"a","group":""`) + point("http_req_duration", 11, 120, `"name":"a","group":"","expected_response":"true"`) + point("iterations", 11, 1, `"group":""`)
	want := must(t, "k6", load)
	setup := point("http_req_duration", 1, 900, `"name":"a","group":"::setup","scenario":"default","expected_response":"false"`) +
		point("http_req_duration", 2, 900, `"name":"b","group":"::setup::users"`) + point("group_duration", 2, 900, `"group":"::setup::users"`) +
		load + point("http_req_duration", 50, 700, `"name":"c","group":"::teardown"`)
	got := must(t, "k6", setup)
	if fmt.Sprint(told(got)) != fmt.Sprint(told(want)) || !got.Start.Equal(want.Start) || !got.End.Equal(want.End) {
		t.Errorf("with setup and teardown it is %v from %s to %s, want %v from %s to %s", told(got), got.Start, got.End, told(want), want.Start, want.End)
	}
	wantNote(t, got, "4 points of setup() and teardown() omitted: they are not part of the load")
	own := must(t, "k6", point("http_req_duration", 1, 100, `"name":"a","group":"::setup cart"`)+point("http_req_duration", 2, 100, `"name":"a","group":"::Cart::setup"`))
	if own.Samples != 2 {
		t.Errorf("of groups that are called alike, %d samples are read", own.Samples)
	}
}

// A group's time includes pauses, so its requests are primary.
func TestK6GroupsHavePauses(t *testing.T) {
	text := point("http_req_duration", 1, 100, `"name":"a","group":"::Cart","expected_response":"true"`) + point("http_req_duration", 2, 300, `"name":"b","group":"::Cart::Pay","expected_response":"false"`) +
		point("http_req_duration", 3, 200, `"name":"c","group":"::Cart"`) + point("http_req_duration", 3, 50, `"name":"d","group":""`) +
		point("group_duration", 3, 500, `"group":"::Cart::Pay"`) + point("group_duration", 9, 5600, `"group":"::Cart"`)
	got := must(t, "k6", text)
	wantValues(t, got, map[string]string{
		"cico/Cart/average": "5600 ms of 1", "cico/Cart/Pay/average": "500 ms of 1", "cico/Cart/requests/average": "150 ms of 2",
		"cico/Cart/Pay/requests/errors": "100 % of 1", "cico/Cart/requests/errors": "0 % of 2", "cico/Cart/errors": "", "cico/errors": "25 % of 4",
	})
	if fmt.Sprint(got.Paused) != "[cico/Cart/Pay/average cico/Cart/average]" {
		t.Errorf("pauses are in %q", got.Paused)
	}
	wantNote(t, got, "a group's time includes its pauses")
	one, err := measure("k6", text, "^Cart$")
	if err != nil {
		t.Fatal(err)
	}
	wantValues(t, one, map[string]string{"cico/Cart/average": "5600 ms of 1", "cico/Cart/requests/average": "150 ms of 2", "cico/Cart/Pay/average": "", "cico/Cart/Pay/requests/average": ""})
}

// A threshold makes k6 keep a trend without samples, with zeros as values.
func TestK6SummariesWithoutSamples(t *testing.T) {
	const empty = `{"avg": 0, "min": 0, "med": 0, "max": 0, "p(95)": 0, "thresholds": {"p(95)<500": false}}`
	text := `{"metrics": {"http_req_duration": {"avg": 101, "max": 200}, "http_req_duration{name:checkout}": ` + empty + `, "group_duration{group:::Cart}": {"type": "trend", "values": ` + empty + `},
		"http_req_duration{group:::setup}": {"avg": 900, "max": 900}, "http_req_failed": {"passes": 0, "fails": 600, "value": 0}, "http_req_failed{name:checkout}": {"passes": 0, "fails": 0, "value": 0}, "grpc_req_duration": {"avg": 3, "max": 4}}}`
	got := must(t, "k6-summary", text)
	wantValues(t, got, map[string]string{"cico/requests/average": "101 ms of 0", "cico/requests/errors": "0 % of 600", "cico/checkout/average": "", "cico/Cart/average": "", "cico/setup/requests/average": ""})
	wantNote(t, got, "group_duration{group:::Cart}, http_req_duration{name:checkout}: no samples")
	wantNote(t, got, "grpc_req_duration: not imported")
}

// A group and a request of the same name are two transactions.
func TestK6SummaryNamesAreDistinct(t *testing.T) {
	got := must(t, "k6-summary", `{"metrics": {"http_req_duration{name:Cart}": {"avg": 100}, "group_duration{group:::Cart}": {"avg": 5000}, "group_duration{group:::Pay}": {"avg": 7000}}}`)
	if found := told(got); len(found) != 3 || found["cico/Pay/average"] == "" {
		t.Errorf("it holds %v", found)
	}
	if len(got.Paused) != 2 {
		t.Errorf("pauses are in %q", got.Paused)
	}
}

// The machine-readable summary has times and no rate.
func TestK6MachineReadableSummary(t *testing.T) {
	got := must(t, "k6-summary", `{"version": "1.0.0", "config": {"duration": 60.0, "execution": "local", "script": "x.js"}, "metadata": {"generated_at": "2025-01-03T08:01:00Z", "k6_version": "2.2.0"},
		"results": {"checks": {"metrics": [], "results": []}, "metrics": [{"name": "http_req_duration", "type": "trend", "contains": "time", "values": {"avg": 100.5, "max": 200, "med": 99, "min": 80, "p90": 120, "p95": 130}},
		{"name": "http_reqs", "type": "counter", "contains": "default", "values": {"count": 600}}, {"name": "http_req_failed", "type": "rate", "contains": "default", "values": {"matches": 6, "rate": 0.01, "total": 600}},
		{"name": "http_req_duration{name:x}", "type": "trend", "contains": "time", "values": {"avg": 0, "max": 0, "med": 0, "min": 0, "p90": 0, "p95": 0}}]}}`)
	wantValues(t, got, map[string]string{
		"cico/requests/average": "100.5 ms of 0", "cico/requests/p95": "130 ms of 0", "cico/requestsPerSecond": "10 1/s of 600", "cico/requests/errors": "1 % of 600", "cico/x/average": "",
	})
	if !got.Start.Equal(time.Date(2025, 1, 3, 8, 0, 0, 0, time.UTC)) || got.Samples != 600 {
		t.Errorf("%d samples since %s", got.Samples, got.Start)
	}
}

// A note lists the metrics that are not read.
func TestK6NotesUnreadMetrics(t *testing.T) {
	got := must(t, "k6", point("http_req_duration", 1, 100, `"name":"a"`)+point("grpc_req_duration", 1, 100, "")+point("my_trend", 1, 100, "")+point("my_trend", 1, 100, "")+point("vus", 1, 3, "")+point("http_req_waiting", 1, 3, ""))
	wantNote(t, got, "grpc_req_duration, my_trend: not imported; measure them inside group(), or convert their values with --from table")
	if strings.Contains(strings.Join(got.Notes, ""), "vus") {
		t.Errorf("the notes are %q", got.Notes)
	}
}
