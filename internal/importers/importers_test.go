// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/importers"
	"perflab.dev/perflab/payload"
)

const header = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n"

// jtl has four requests, one of which failed, and a transaction with two of them.
const jtl = header +
	"1735900000000,100,GET /items,200,OK,a,true\n" +
	"1735900000100,300,\"POST /items, new\",200,OK,a,true\n" +
	"1735900000000,400,Check-In,200,\"Number of samples in transaction : 2, number of failing samples : 0\",a,true\n" +
	"1735900001000,200,GET /items,200,OK,a,true\n" +
	"1735900001500,500,GET /items,500,Oops,a,false\n"

const gatlingLog = "ASSERTION\tAAECAAMBAAAA\n" +
	"RUN\tshop.Checkout\tcheckout\t1735900000000\t \t3.9.5\n" +
	"USER\tusers\tSTART\t1735900000000\n" +
	"REQUEST\t\tlist\t1735900000000\t1735900000120\tOK\t \n" +
	"REQUEST\tCart,Pay\tpost\t1735900000120\t1735900000320\tKO\tstatus.find.is(200), but actually found 500\n" +
	"GROUP\tCart,Pay\t1735900000120\t1735900000400\t200\tKO\n" +
	"REQUEST\t\tlist\t1735900001000\t1735900001080\tOK\t \n" +
	"USER\tusers\tEND\t1735900002000\n"

const gatlingOld = "RUN\tshop.Checkout\tcheckout\t1735900000000\t \t3.2.1\n" +
	"USER\tusers\t1\tSTART\t1735900000000\t1735900000000\n" +
	"REQUEST\t1\t\tlist\t1735900000000\t1735900000120\tOK\t \n"

const gatlingStats = `{"type": "GROUP", "name": "All Requests", "path": "", "stats": {"name": "All Requests",
 "numberOfRequests": {"total": 12, "ok": 11, "ko": 1}, "meanResponseTime": {"total": 110, "ok": 100, "ko": 220},
 "percentiles1": {"total": 90, "ok": 90, "ko": 220}, "percentiles3": {"total": 190, "ok": 180, "ko": 220},
 "meanNumberOfRequestsPerSecond": {"total": 4.5, "ok": 4, "ko": 0.5}},
 "contents": {"req_list-1": {"type": "REQUEST", "name": "list", "path": "Cart / list", "stats": {"name": "list",
 "numberOfRequests": {"total": "12", "ok": "11", "ko": "1"}, "meanResponseTime": {"total": "110", "ok": "100", "ko": "-"}}}}}`

const openMessaging = `{"workload": "1 topic", "driver": "Kafka", "beginTime": "2025-01-03T08:00:00.000", "publishRate": [1000, 1200], "consumeRate": [1000, 1100], "publishErrorRate": [0, 11],
 "aggregatedPublishLatencyAvg": 3.5, "aggregatedPublishLatency50pct": 3, "aggregatedPublishLatency95pct": 9, "aggregatedPublishLatencyMax": 90.5,
 "aggregatedEndToEndLatencyAvg": 7, "aggregatedEndToEndLatency99pct": 40}`

const prometheus = `{"status": "success", "data": {"resultType": "matrix", "result": [
 {"metric": {"__name__": "process_cpu", "job": "shop"}, "values": [[1735900000, "1"], [1735900015.5, "3"], [1735900030, "NaN"]]},
 {"metric": {}, "values": [[1735900000, "7"]]}]}}`

// The sample of each format yields its values with PerfLab's names and units.
func TestReaders(t *testing.T) {
	for name, tc := range map[string]struct {
		format, text, file, only string
		want                     map[string]string
		absent                   []string
		start                    string
		lasts                    time.Duration
		samples                  int64
	}{
		"JMeter": {
			format: "jmeter", text: jtl, start: "2025-01-03T10:26:40Z", lasts: 2 * time.Second, samples: 5,
			want: map[string]string{
				"cico/GET /items/average": "150 ms of 2", "cico/GET /items/p50": "100 ms of 2", "cico/GET /items/p95": "200 ms of 2", "cico/GET /items/max": "200 ms of 2",
				"cico/GET /items/errors": "33.3333 % of 3", "cico/GET /items/samples": "3 1 of 0", "cico/POST /items, new/average": "300 ms of 1",
				"cico/Check-In/average": "400 ms of 1", "cico/requestsPerSecond": "2 1/s of 4",
			},
		},
		"JMeterInTheUnionsSpreadsheets": {
			format: "jmeter", text: "timeStamp;elapsed;label;success\r\n1735900000000;100,0;a;TRUE\r\n1735900001000;100;a;True\r\n",
			start: "2025-01-03T10:26:40Z", lasts: 1100 * time.Millisecond, samples: 2, want: map[string]string{"cico/a/average": "100 ms of 2"},
		},
		"JMeterInSpreadsheetsInGerman": {
			format: "jmeter", text: "timeStamp;elapsed;label;success\n1735900000000;100;a;WAHR\n1735900001000;100;a;FALSCH\n",
			start: "2025-01-03T10:26:40Z", lasts: 1100 * time.Millisecond, samples: 2, want: map[string]string{"cico/a/errors": "50 % of 2"},
		},
		"JMeterChosen": {
			format: "jmeter", text: jtl, only: "^Check", start: "2025-01-03T10:26:40Z", lasts: 2 * time.Second, samples: 5,
			want: map[string]string{"cico/Check-In/average": "400 ms of 1", "cico/requestsPerSecond": "2 1/s of 4"}, absent: []string{"cico/GET /items/average"},
		},
		"JMeterMeasured": {
			format: "jmeter", file: "jmeter.jtl", start: "2026-11-24T22:11:54Z", lasts: 1344 * time.Millisecond, samples: 48,
			want: map[string]string{"cico/Check-In/samples": "16 1 of 0"},
		},
		"JMeterXML": {
			format: "jmeter", file: "jmeter-xml.jtl", start: "2026-11-24T22:13:11Z", lasts: 1201 * time.Millisecond, samples: 48,
			want: map[string]string{"cico/Check-In/samples": "16 1 of 0", "cico/Check-In/max": "222 ms of 16"},
		},
		"K6": {
			format: "k6", file: "k6.json", start: "2026-11-24T22:14:54Z", samples: 12, lasts: 91 * time.Millisecond,
			want:   map[string]string{"cico/Check-In/samples": "6 1 of 0", "cico/errors": "50 % of 12"},
			absent: []string{"cico/Check-In/errors", "cico/items/average"},
		},
		"K6SummaryExport": {
			format: "k6-summary", file: "k6-export.json", samples: 12,
			want: map[string]string{"cico/items/average": "2.98433 ms of 6", "cico/items/p99": "5.60047 ms of 6", "cico/requests/errors": "50 % of 12", "cico/requestsPerSecond": "155.049 1/s of 12", "cico/iterationsPerSecond": "77.5247 1/s of 6"},
		},
		"K6HandleSummary": {
			format: "k6-summary", file: "k6-handle.json", samples: 12,
			want: map[string]string{"cico/requests/errors": "50 % of 12"}, absent: []string{"cico/requests/p99"},
		},
		"Gatling": {
			format: "gatling", text: gatlingLog, start: "2025-01-03T10:26:40Z", lasts: 1080 * time.Millisecond, samples: 4,
			want: map[string]string{"cico/list/average": "100 ms of 2", "cico/Cart/Pay/post/errors": "100 % of 1", "cico/Cart/Pay/errors": "100 % of 1", "cico/requestsPerSecond": "2.77778 1/s of 3"},
		},
		"GatlingBefore34": {
			format: "gatling", text: gatlingOld, start: "2025-01-03T10:26:40Z", lasts: 120 * time.Millisecond, samples: 1,
			want: map[string]string{"cico/list/average": "120 ms of 1"},
		},
		"GatlingStats": {
			format: "gatling-stats", text: gatlingStats, samples: 12,
			want: map[string]string{"cico/requests/average": "100 ms of 11", "cico/requests/p95": "180 ms of 11", "cico/Cart/list/errors": "8.33333 % of 12", "cico/requestsPerSecond": "4.5 1/s of 12"},
		},
		"OpenMessaging": {
			format: "openmessaging", text: openMessaging, start: "2025-01-03T08:00:00Z",
			want:   map[string]string{"cico/publish/average": "3.5 ms of 0", "cico/publish/max": "90.5 ms of 0", "cico/end-to-end/p99": "40 ms of 0", "cico/requestsPerSecond": "1100 1/s of 0", "cico/recordsPerSecond": "1050 1/s of 0", "cico/publish/errors": "0.497512 % of 0"},
			absent: []string{"cico/publish/p99"},
		},
		"GoBench": {
			format: "gobench", file: "gobench.txt", samples: 6,
			want: map[string]string{
				"cico/perflab.dev/perflab/internal/comparison.ReadAndCompare-2/average":         "1209.33 ms of 6",
				"custom/perflab.dev/perflab/internal/comparison.ReadAndCompare-2/allocs per op": "2137530 allocs/op of 6",
			},
		},
		"Prometheus": {
			format: "prometheus", text: prometheus, start: "2025-01-03T10:26:40Z", lasts: 15500 * time.Millisecond, samples: 3,
			want: map[string]string{"custom/process_cpu{job=shop}/average": "2  of 2", "custom/process_cpu{job=shop}/max": "3  of 2", "custom/value/average": "7  of 1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := tc.text
			if tc.file != "" {
				text = read(t, tc.file)
			}
			got, err := measure(tc.format, text, tc.only)
			if err != nil {
				t.Fatal(err)
			}
			found := told(got)
			for metric, want := range tc.want {
				if found[metric] != want {
					t.Errorf("%s is %q, want %q", metric, found[metric], want)
				}
			}
			for _, metric := range tc.absent {
				if found[metric] != "" {
					t.Errorf("%s is %q", metric, found[metric])
				}
			}
			if start := got.Start.UTC().Format(time.RFC3339); tc.start != "" && start != tc.start || tc.start == "" && !got.Start.IsZero() {
				t.Errorf("it began at %s, want %q", start, tc.start)
			}
			if lasts := got.End.Sub(got.Start).Truncate(time.Millisecond); !got.End.IsZero() && lasts != tc.lasts {
				t.Errorf("it lasted %s, want %s", lasts, tc.lasts)
			}
			if got.Samples != tc.samples {
				t.Errorf("%d samples, want %d", got.Samples, tc.samples)
			}
		})
	}
}

// Invalid data is rejected, with its position and advice.
func TestRefusals(t *testing.T) {
	point := `{"type":"Point","metric":"http_req_duration","data":{"time":"2025-01-03T08:00:00Z","value":%s,"tags":{"name":"a"}}}` + "\n"
	for name, tc := range map[string]struct{ format, text, want string }{
		"JMeterCutInATag":        {"jmeter", `<testResults><sample t="1" ts="17359`, "the file ends before </testResults>: JMeter was killed"},
		"GoBenchComma":           {"gobench", "BenchmarkA-2\t10\t1,000 ns/op\n", `line 1: parsing measurement: invalid syntax: the expected form is "BenchmarkA-8 100 2500 ns/op"`},
		"GoBenchTalks":           {"gobench", "BenchmarkA-2\t2026/01/01 12:00:00 listening\n  10\t100 ns/op\n", "write other output of benchmarks with b.Log, or to standard error"},
		"JMeterEmpty":            {"jmeter", "", `line 1: "" is not a header with the column timeStamp`},
		"JMeterWithoutHeader":    {"jmeter", "1735900000000,100,a,true\n", `line 1: "1735900000000,100,a,true" is not a header with the column timeStamp: expected timeStamp,elapsed,label,…,success, which JMeter writes with jmeter.save.saveservice.print_field_names=true`},
		"JMeterOnlyHeader":       {"jmeter", header, "the file has no samples"},
		"JMeterNegative":         {"jmeter", header + "1735900000000,-1,a,200,OK,a,true\n", "line 2: the duration is negative: -1 ms"},
		"JMeterNotANumber":       {"jmeter", header + "1735900000000,NaN,a,200,OK,a,true\n", `line 2: elapsed "NaN" is not a number of milliseconds: use the file that JMeter wrote`},
		"JMeterSeconds":          {"jmeter", header + "1735900000,1,a,200,OK,a,true\n", "line 2: the time 1735900000 is in seconds: it must be in milliseconds since 1970"},
		"JMeterNanoseconds":      {"jmeter", header + "1735900000000000000,1,a,200,OK,a,true\n", "line 2: the time 1735900000000000000 is in nanoseconds"},
		"JMeterElapsedInNanos":   {"jmeter", header + "1735900000000,1000000000,a,200,OK,a,true\n", "line 2: 1000000000 ms is longer than a week: check the unit"},
		"JMeterDate":             {"jmeter", header + "2025/01/03 08:00:00,1,a,200,OK,a,true\n", "line 2: timeStamp \"2025/01/03 08:00:00\" is not a number of milliseconds since 1970: set jmeter.save.saveservice.timestamp_format=ms in JMeter"},
		"JMeterSuccess":          {"jmeter", header + "1735900000000,1,a,200,OK,a,yes\n", `line 2: success "yes" is neither true nor false: use the file that JMeter wrote`},
		"JMeterFields":           {"jmeter", header + "1735900000000,1,a,200\n", "line 2: 4 fields, but the header has 7: if the file is truncated here, copy it again, or remove the line"},
		"JMeterTwoFiles":         {"jmeter", jtl + jtl, "line 7: the header is repeated: convert the merged files separately"},
		"JMeterQuote":            {"jmeter", header + "1735900000000,1,\"a,200,OK,a,true\n" + strings.Repeat("1735900000000,1,a,200,OK,a,true\n", 100_000), "a row is longer than 1 MiB: check for an unclosed quote"},
		"JMeterStrayQuote":       {"jmeter", header + "1735900000000,1,a\"b,200,OK,a,true\n", `line 2: bare " in non-quoted-field`},
		"JMeterTooMany":          {"jmeter", header + labels(121), "exceeds the limit of 120 transactions per run: select some with --only REGEXP"},
		"JMeterXMLOther":         {"jmeter", "<html><body/></html>", "line 1: the file begins with <html>, but JMeter's results begin with <testResults>"},
		"JMeterXMLCut":           {"jmeter", `<testResults><sample t="1" ts="1735900000000" s="true" lb="a"/>`, "the file ends before </testResults>"},
		"JMeterXMLWithoutTime":   {"jmeter", "<testResults>\n<sample t=\"1\" s=\"true\" lb=\"a\"/></testResults>", `line 2: timeStamp "" is not a number`},
		"JMeterXMLVersion":       {"jmeter", `<?xml version="1.1"?><testResults/>`, "line 1: xml: unsupported version"},
		"JMeterXMLEncoding":      {"jmeter", `<?xml version="1.0" encoding="Shift_JIS"?><testResults/>`, `line 1: xml: opening charset "Shift_JIS": the encoding "Shift_JIS" is not supported: save the file as UTF-8`},
		"JMeterXMLBroken":        {"jmeter", "<testResults>\n<sample t=1/></testResults>", "line 2: "},
		"K6OfASummary":           {"k6", "{\n \"metrics\": {}\n}\n", "line 1: not k6's JSON output"},
		"K6OtherLines":           {"k6", `{"a": 1}` + "\n", `line 1: the line has type "", but k6's lines have type Metric or Point`},
		"K6Cut":                  {"k6", fmt.Sprintf(point, "1") + `{"type":"Point","metr`, "line 2: invalid line of k6's JSON output (unexpected end of JSON input): if the file is truncated here, copy it again"},
		"K6Negative":             {"k6", fmt.Sprintf(point, "-3"), "line 1: the duration is negative: -3ms"},
		"K6WithoutValue":         {"k6", fmt.Sprintf(point, "null"), "line 1: the point of http_req_duration has no value"},
		"K6Huge":                 {"k6", fmt.Sprintf(point, "1e30"), "line 1: 1e+30 ms is longer than a week"},
		"K6Year1":                {"k6", strings.Replace(fmt.Sprintf(point, "1"), "2025", "0001", 1), "line 1: the time 0001-01-03T07:59:59Z is not between 2000 and 2100"},
		"K6LongLine":             {"k6", strings.Repeat("x", 2<<20), "line 1: the line is longer than 1 MiB"},
		"K6SummaryOfLines":       {"k6-summary", fmt.Sprintf(point, "1") + fmt.Sprintf(point, "2"), "unexpected data after the end of a k6 summary"},
		"K6SummaryCut":           {"k6-summary", `{"metrics": {"http_reqs": {`, "the file ends in the middle of a k6 summary: copy it again"},
		"K6SummaryNothing":       {"k6-summary", `{"metrics": {"vus": {"value": 3}}}`, "the summary has no values"},
		"K6SummaryNegative":      {"k6-summary", `{"metrics": {"http_req_duration": {"avg": -1}}}`, "cico/requests/average is negative: -1"},
		"GatlingBinary":          {"gatling", "\x00\x00\x00\x063.13.1", "logs are binary since Gatling 3.13, which is not supported; use js/stats.json of the report with --from gatling-stats"},
		"GatlingOther":           {"gatling", "hello\n", "logs are binary since Gatling 3.13"},
		"Gatling2":               {"gatling", "RUN\tshop.Checkout\t\tcheckout\t1520337025119\tname\t2.0\n", `line 1: the log is from Gatling "2.0", but only 3.0 to 3.12 are supported`},
		"GatlingBackwards":       {"gatling", strings.Replace(gatlingLog, "1735900000120\tOK", "1735899999999\tOK", 1), "line 4: the duration is negative: -1 ms"},
		"GatlingShort":           {"gatling", gatlingOld + "REQUEST\t\tlist\n", "line 4: a REQUEST record needs groups"},
		"GatlingUnknown":         {"gatling", gatlingOld + "SPARE\t1\n", `line 4: unknown record type "SPARE"`},
		"GatlingStatsScript":     {"gatling-stats", "var stats = {", "not a Gatling stats.json: invalid character 'v'"},
		"GatlingStatsOther":      {"gatling-stats", `{"a": 1}`, `"stats" is missing: use js/stats.json`},
		"GatlingStatsText":       {"gatling-stats", strings.Replace(gatlingStats, `"total": 110`, `"total": "many"`, 1), "not a Gatling stats.json"},
		"OpenMessagingOther":     {"openmessaging", `{"workload": "a"}`, "aggregatedPublishLatencyAvg is missing"},
		"OpenMessagingText":      {"openmessaging", `{"aggregatedPublishLatencyAvg": "many"}`, `not an OpenMessaging Benchmark result: "many" is not a number`},
		"OpenMessagingNanos":     {"openmessaging", `{"aggregatedPublishLatencyAvg": 3500000000}`, "cico/publish/average is 3.5e+09 ms, longer than a week: check the unit"},
		"GoBenchNothing":         {"gobench", "PASS\nok  \tx\t0.1s\n", "no line begins with Benchmark"},
		"GoBenchBroken":          {"gobench", "BenchmarkA-2\tmany\t100 ns/op\n", "line 1: "},
		"GoBenchNegative":        {"gobench", "BenchmarkA-2\t10\t-100 B/op\n", `line 1: "A-2" is negative: -100 B/op`},
		"PrometheusError":        {"prometheus", `{"status": "error", "error": "query timed out"}`, `the status is "error", not success: query timed out`},
		"PrometheusInstant":      {"prometheus", `{"status": "success", "data": {"resultType": "vector", "result": []}}`, `the result type is "vector", not matrix: query /api/v1/query_range`},
		"PrometheusEmpty":        {"prometheus", `{"status": "success", "data": {"resultType": "matrix", "result": []}}`, "the query returned no series"},
		"PrometheusMilliseconds": {"prometheus", strings.ReplaceAll(prometheus, "1735900000", "1735900000000"), "process_cpu{job=shop}: point 1: the time 1735900000000 is not in seconds since 1970"},
		"PrometheusAllBad":       {"prometheus", strings.NewReplacer(`"3"`, `"three"`, `"7"`, `"NaN"`).Replace(prometheus), `process_cpu{job=shop}: point 2: the value "three" is not a number, value: it has no finite value`},
		"PrometheusHistograms":   {"prometheus", `{"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {"__name__": "lat"}, "histograms": [[1735900000, {"count": "1"}]]}]}}`, "lat: it is a native histogram: query histogram_quantile"},
		"JMeterRounded":          {"jmeter", header + "1.64797E+12,1,a,200,OK,a,true\n", `line 2: timeStamp "1.64797E+12" is rounded, probably by a spreadsheet`},
		"JMeterGrouped":          {"jmeter", header + "1735900000000,\"1,234\",a,200,OK,a,true\n", `line 2: elapsed: "1,234" is ambiguous: it can be 1234 or 1.234; write it with a decimal point and without thousands separators`},
		"K6OnlyGRPC":             {"k6", strings.ReplaceAll(fmt.Sprintf(point, "1"), "http_req_duration", "grpc_req_duration"), "the file has no samples; grpc_req_duration: not imported; measure them inside group()"},
		"K6OnlySetup":            {"k6", strings.ReplaceAll(fmt.Sprintf(point, "1"), `"name":"a"`, `"name":"a","group":"::setup"`), "the file has no samples"},
		"K6SummaryEmpty":         {"k6-summary", `{"metrics": {"http_req_duration": {"avg": 0, "max": 0}, "http_reqs": {"count": 0, "rate": 0}, "iterations": {"count": 0, "rate": 0}}}`, "the summary has no values; http_req_duration, http_reqs, iterations: no samples"},
		"K6SummaryOnlyOwn":       {"k6-summary", `{"metrics": {"my_trend": {"avg": 1, "max": 2}}}`, "the summary has no values; my_trend: not imported"},
		"OpenMessagingEmpty":     {"openmessaging", `{"publishRate": [0, 0], "consumeRate": [0], "aggregatedPublishLatencyAvg": 0, "aggregatedEndToEndLatencyAvg": 0}`, "the result has no values; publish, end-to-end, requestsPerSecond and 1 more: no samples"},
		"GatlingStatsEmpty":      {"gatling-stats", `{"stats": {"numberOfRequests": {"total": 0}, "meanResponseTime": {"total": 0, "ok": 0}, "meanNumberOfRequestsPerSecond": {"total": 0}}}`, "the file has no values; requests: no samples"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := measure(tc.format, tc.text, "")
			if err == nil {
				t.Fatalf("it gives %+v", got)
			}
			if !errors.Is(err, importers.ErrFile) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is\n%v\nwant\n%s", err, tc.want)
			}
		})
	}
}

const tableHead = "release,arm,block,scenario,metric,unit,value\n"

func TestTables(t *testing.T) {
	text := tableHead +
		"2025.1,base,1,cico,cico/Check-In/average,s,0.4\n" +
		"2025.1,base,2,cico,cico/Check-In/average,ms,410\n" +
		"2025.1,base,1,cico,cico/Check-In/errors,%,0\n" +
		"2025.1,base,1,cico,module/mod-users/cpu/average,cores,1.5\n" +
		"2025.2,base,1,cico,cico/requestsPerSecond,1/s,40\n"
	got, err := table(text)
	if err != nil || len(got) != 3 {
		t.Fatalf("%v: %+v", err, got)
	}
	first := got[0]
	if first.Release != "2025.1" || first.Arm != "base" || first.Block != 1 || fmt.Sprint(first.Loads) != "[cico]" || len(first.Measured.Observations) != 3 {
		t.Errorf("the first run is %+v", first)
	}
	if one := first.Measured.Observations[0]; one.Metric != "cico/Check-In/average" || one.Value != "400" || one.Unit != "ms" {
		t.Errorf("its first value is %+v", one)
	}
	for name, tc := range map[string]struct{ text, want string }{
		"Empty":      {"", "the file is empty: the first line must list the columns release,measured,block,arm,scenario,metric,unit,value"},
		"Header":     {"a,b\n", `line 1: unknown column "a"`},
		"Missing":    {"arm,scenario,metric,unit\n", `line 1: the column "value" is missing`},
		"ColumnTwo":  {"arm,arm\n", `line 1: the column "arm" occurs twice`},
		"NoRows":     {tableHead, "no row follows the header"},
		"Fields":     {tableHead + "a,b\n", "line 2: 2 fields, but the header has 7"},
		"Block":      {tableHead + ",a,0,s,l/t/average,ms,1\n", `line 2: the block "0" is not a whole number from 1 to 100`},
		"NaN":        {tableHead + ",a,1,s,l/t/average,ms,NaN\n", `line 2: the value "NaN" is not a finite number: omit the row of a missing value`},
		"Ambiguous":  {tableHead + ",a,1,s,l/t/average,ms,\"1,234\"\n", `line 2: the value "1,234" is ambiguous: it can be 1234 or 1.234`},
		"Negative":   {tableHead + ",a,1,s,l/t/average,ms,-1\n", "line 2: l/t/average is negative: -1"},
		"Unit":       {tableHead + ",a,1,s,l/t/average,MiB,1\n", `line 2: the unit of l/t/average is "MiB", but must be "ms"`},
		"Huge":       {tableHead + ",a,1,s,l/t/average,h,200\n", "line 2: l/t/average is 7.2e+08 ms, longer than a week"},
		"Statistic":  {tableHead + ",a,1,s,CI avg,s,1\n", `line 2: "CI avg" is not a metric name: write LOAD/TRANSACTION/STATISTIC`},
		"OtherWord":  {tableHead + ",a,1,s,l/t/avg,s,1\n", `is not a statistic of a load: use average, p50,`},
		"Twice":      {tableHead + ",a,1,s,l/t/average,ms,1\n,a,1,s,l/t/average,ms,2\n", `line 3: block 1 of arm "a" under scenario "s" has l/t/average twice: give each of its runs a different block`},
		"NoArm":      {tableHead + ",,1,s,l/t/average,ms,1\n", "line 2: the arm or the scenario is empty"},
		"Date":       {"measured,arm,scenario,metric,unit,value\n3.1.2025,a,s,l/t/average,ms,1\n", `line 2: "3.1.2025" is not a date or a time with a time zone`},
		"TwoDates":   {"measured,arm,scenario,metric,unit,value\n2025-01-03,a,s,l/t/average,ms,1\n2025-01-04,a,s,l/t/p95,ms,1\n", `line 3: the run was measured at "2025-01-04", but at another time in an earlier row`},
		"StrayQuote": {tableHead + ",a\"b,1,s,l/t/average,ms,1\n", "line 2: bare"},
	} {
		if _, err := table(tc.text); !errors.Is(err, importers.ErrFile) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: the error is %v, want %s", name, err, tc.want)
		}
	}
}

// A value is the same in each unit, however the unit is written, and in each format of
// spreadsheets.
func TestTablesOfSpreadsheets(t *testing.T) {
	for name, text := range map[string]string{
		"sec":         tableHead + ",a,1,s,l/t/average,sec,1.5\n",
		"msec":        tableHead + ",a,1,s,l/t/average,msec,\"1500,0\"\n",
		"micro":       tableHead + ",a,1,s,l/t/average,\u00b5s,1.5E+06\n",
		"Greek":       tableHead + ",a,1,s,l/t/average,\u03bcs,1500000\n",
		"us":          tableHead + ",a,1,s,l/t/average,us,1 500 000\n",
		"ns":          tableHead + ",a,1,s,l/t/average,nanoseconds,\"1,500,000,000\"\n",
		"semicolons":  strings.ReplaceAll(tableHead, ",", ";") + ";a;1;s;l/t/average;s;1,5\n",
		"tabs":        strings.ReplaceAll(tableHead, ",", "\t") + "\ta\t1\ts\tl/t/average\tms\t1’500\n",
		"a separator": "sep=;\n" + strings.ReplaceAll(tableHead, ",", ";") + ";a;1;s;l/t/average;s;1,5\n",
	} {
		got, err := table(text)
		if err != nil || len(got) != 1 || got[0].Measured.Observations[0].Value != "1500" || got[0].Measured.Observations[0].Unit != "ms" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func table(text string) ([]importers.TableRecord, error) {
	return importers.ReadTable(importers.Source{In: strings.NewReader(text), Memory: payload.NewBudget(1 << 20)})
}

// Gatling's report and its log yield the same values.
func TestGatlingAgreesWithItsReport(t *testing.T) {
	log, err := measure("gatling", read(t, "gatling-simulation.txt"), "")
	if err != nil {
		t.Fatal(err)
	}
	stats, err := measure("gatling-stats", read(t, "gatling-stats.json"), "")
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]float64{}
	for _, one := range log.Observations {
		own[one.Metric], _ = strconv.ParseFloat(one.Value, 64)
	}
	compared := 0
	for _, one := range stats.Observations {
		name := one.Metric
		value, found := own[name]
		if !found {
			continue
		}
		// The report rounds to milliseconds, and interpolates percentiles.
		if want, _ := strconv.ParseFloat(one.Value, 64); strings.HasSuffix(name, "/average") && math.Abs(value-want) > 0.51 ||
			(strings.HasSuffix(name, "/errors") || strings.HasSuffix(name, "/samples") || strings.HasSuffix(name, "/max")) && value != want {
			t.Errorf("%s is %g in the log, and %g in the report", name, value, want)
		}
		compared++
	}
	if compared < 10 {
		t.Errorf("only %d values are in both", compared)
	}
}

// labels returns this many rows with different labels.
func labels(count int) string {
	var rows strings.Builder
	for i := range count {
		fmt.Fprintf(&rows, "1735900000000,1,label %d,200,OK,a,true\n", i)
	}
	return rows.String()
}

// Memory use depends on the number of different durations, not of rows; beyond the limit, reading
// ends.
func TestReadersUseConstantMemory(t *testing.T) {
	rows := header + strings.Repeat("1735900000000,7,a,200,OK,a,true\n", 200_000)
	reader, _ := importers.Named("jmeter")
	got, err := reader.Read(importers.Source{In: strings.NewReader(rows), Load: "cico", Memory: payload.NewBudget(4096)})
	if err != nil || got.Samples != 200_000 {
		t.Errorf("%+v, %v", got, err)
	}
	var different strings.Builder
	different.WriteString(header)
	for i := range 200 {
		fmt.Fprintf(&different, "1735900000000,%d,a,200,OK,a,true\n", i)
	}
	_, err = reader.Read(importers.Source{In: strings.NewReader(different.String()), Load: "cico", Memory: payload.NewBudget(4096)})
	if !errors.Is(err, payload.ErrTooLarge) {
		t.Errorf("the error is %v, want ErrTooLarge", err)
	}
}

// The order of rows does not matter.
func TestOrderDoesNotMatter(t *testing.T) {
	rows := strings.SplitAfter(strings.TrimPrefix(jtl, header), "\n")
	turned := header
	for i := len(rows) - 1; i >= 0; i-- {
		turned += rows[i]
	}
	one, errOne := measure("jmeter", jtl, "")
	other, errOther := measure("jmeter", turned, "")
	if errOne != nil || errOther != nil || fmt.Sprint(one) != fmt.Sprint(other) {
		t.Errorf("%v, %v:\n%v\n%v", errOne, errOther, one, other)
	}
}

func TestGapIsNoted(t *testing.T) {
	got, err := measure("jmeter", header+"1735900000000,7,a,200,OK,a,true\n1735910000000,7,a,200,OK,a,true\n", "")
	const want = "no samples for 2h47m0s before 2025-01-03 13:13:20 UTC: if another test starts there, split the file"
	if err != nil || len(got.Notes) != 1 || got.Notes[0] != want {
		t.Errorf("%v: %q", err, got.Notes)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, one := range importers.All() {
		if seen[one.Name()] || one.Tool() == "" || one.Reads() == "" {
			t.Errorf("%q is there twice, or has no words", one.Name())
		}
		seen[one.Name()] = true
	}
	if _, found := importers.Named("abacus"); found {
		t.Error("an unknown format has a reader")
	}
}

// told returns the values by metric.
func told(got *importers.Measured) map[string]string {
	found := map[string]string{}
	for _, one := range got.Observations {
		found[one.Metric] = fmt.Sprintf("%s %s of %d", one.Value, one.Unit, one.Samples)
	}
	return found
}

// must reads a text, and fails the test on an error.
func must(t *testing.T, format, text string) *importers.Measured {
	t.Helper()
	got, err := measure(format, text, "")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantValues checks the values of metrics; "" means that there is none.
func wantValues(t *testing.T, got *importers.Measured, want map[string]string) {
	t.Helper()
	found := told(got)
	for name, value := range want {
		if found[name] != value {
			t.Errorf("%s is %q, want %q", name, found[name], value)
		}
	}
}

// wantNote checks that the notes include this one.
func wantNote(t *testing.T, got *importers.Measured, want string) {
	t.Helper()
	if !strings.Contains(strings.Join(got.Notes, "\n"), want) {
		t.Errorf("the notes are %q, want %q", got.Notes, want)
	}
}

func measure(format, text, only string) (*importers.Measured, error) {
	reader, found := importers.Named(format)
	if !found {
		return nil, fmt.Errorf("there is no reader %q", format)
	}
	from := importers.Source{In: strings.NewReader(text), Load: "cico", Memory: payload.NewBudget(64 << 20)}
	if only != "" {
		from.Only = regexp.MustCompile(only)
	}
	return importers.Read(reader, from)
}

func read(tb testing.TB, file string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		tb.Fatal(err)
	}
	return string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
}
