// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"fmt"
	"strings"
	"testing"
)

func answer(series ...string) string {
	return `{"status": "success", "data": {"resultType": "matrix", "result": [` + strings.Join(series, ",") + `]}}`
}

func series(labels string, values ...string) string {
	var points []string
	for i, value := range values {
		points = append(points, fmt.Sprintf(`[%d, %q]`, 1735900000+15*i, value))
	}
	return fmt.Sprintf(`{"metric": {%s}, "values": [%s]}`, labels, strings.Join(points, ","))
}

// NaN and infinite values are left out, with a note, and everything else is read.
func TestPrometheusReadsPartialSeries(t *testing.T) {
	got := must(t, "prometheus", answer(
		series(`"__name__": "rate"`, "0.12", "NaN", "+Inf", "-Inf", "0.14"), series(`"__name__": "skew"`, "-0.1", "-0.3"), series(`"__name__": "idle"`, "NaN", "NaN"), series(`"__name__": "bad"`, "1", "many"),
		`{"metric": {"__name__": "latency"}, "histograms": [[1735900000, {"count": "10", "sum": "1.5"}]]}`))
	wantValues(t, got, map[string]string{
		"custom/rate/average": "0.13  of 2", "custom/rate/max": "0.14  of 2", "custom/skew/average": "-0.2  of 2", "custom/skew/max": "-0.1  of 2", "custom/idle/average": "", "custom/bad/average": "", "custom/latency/average": "",
	})
	wantNote(t, got, "5 points omitted: infinite or not a number")
	wantNote(t, got, `3 series omitted: idle: it has no finite value, bad: point 2: the value "many" is not a number, latency: it is a native histogram: query histogram_quantile(0.95, …) or histogram_avg(…)`)
}

// A note reports that Prometheus' answer is incomplete.
func TestPrometheusWarns(t *testing.T) {
	text := strings.Replace(answer(series(`"job": "a"`, "1")), `{"status"`, `{"warnings": ["partial response"], "status"`, 1)
	wantNote(t, must(t, "prometheus", text), "Prometheus warned: partial response")
}

// Series have different names wherever their labels differ: late in a long one, or in characters
// that a metric's name can't contain.
func TestPrometheusSeriesAreDistinct(t *testing.T) {
	long := strings.Repeat("x", 300)
	got := must(t, "prometheus", answer(
		series(`"id": "`+long+`", "pod": "a"`, "1"), series(`"id": "`+long+`", "pod": "b"`, "2"),
		series(`"path": "/a/b"`, "3"), series(`"path": "/a_b"`, "4"), series(`"path": "@a b"`, "5"), series(`"path": "_a b"`, "6")))
	if found := told(got); len(found) != 12 || found["custom/{path=/a/b}/average"] != "3  of 1" || found["custom/{path=_a b}/average"] != "6  of 1" {
		t.Errorf("it holds %v", found)
	}
}
