// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"bufio"
	"errors"
	"fmt"
	"regexp"
)

// formats are recognizable formats by their first bytes, with advice.
var formats = []struct {
	reader string
	begins *regexp.Regexp
	what   string
}{
	{"", regexp.MustCompile(`^metric_name,timestamp,metric_value`), "k6 CSV output, which is not supported: run k6 with --out json=FILE"},
	{"", regexp.MustCompile(`^\s*\{"(Time|Action|ImportPath)":"`), "the output of go test -json, which is not supported: run go test without -json, or extract the text with jq -j '.Output // empty'"},
	{"", regexp.MustCompile(`^"?(Label"?[,;|\t]"?# Samples|sampler_label"?[,;|\t])`), "a JMeter summary report, which is not supported: use the JTL that jmeter -l FILE writes"},
	{"", regexp.MustCompile(`^\s*\{[\s\S]*"sampleCount"[\s\S]*"meanResTime"`), "the statistics.json of a JMeter report, which is not supported: use the JTL that jmeter -l FILE writes"},
	{"", regexp.MustCompile(`(?m)^\s*│.*│|^name\s+old .*/op\s+new .*/op|^[^\n]*,sec/op,CI\b`), "the output of benchstat, which is not supported: use the input files of benchstat"},
	{"", regexp.MustCompile(`(?m)^\s*http_req_duration\.*: `), "a k6 text summary, which is not supported: run k6 with --summary-export=FILE or --out json=FILE"},
	{"", regexp.MustCompile(`(?m)^# (HELP|TYPE) \w+ `), "a single scrape of an exporter's metrics, which is not supported: query Prometheus' /api/v1/query_range"},
	{"jmeter", regexp.MustCompile(`^"?timeStamp"?[,;|\t]|^\s*(<\?xml[^>]*>\s*)?<testResults`), "a JMeter JTL"},
	{"k6", regexp.MustCompile(`^\s*\{("metric":"[^"]*",)?\s*"type"\s*:\s*"(Metric|Point)"|^\s*\{"metric"\s*:[^{]*"type"\s*:\s*"Point"`), "the output of k6 --out json"},
	{"k6-summary", regexp.MustCompile(`^\s*\{[\s\S]*"(http_req_duration|http_reqs|iteration_duration|k6_version)"`), "a k6 summary"},
	{"gatling", regexp.MustCompile(`^(ASSERTION|RUN)\t`), "a Gatling text log"},
	{"gatling-stats", regexp.MustCompile(`^\s*\{[\s\S]*"numberOfRequests"`), "a Gatling stats.json"},
	{"openmessaging", regexp.MustCompile(`^\s*\{[\s\S]*"(publishRate|aggregatedPublishLatency\w*)"`), "an OpenMessaging Benchmark result"},
	{"prometheus", regexp.MustCompile(`^\s*\{[\s\S]*"resultType"`), "a Prometheus response"},
	{"gobench", regexp.MustCompile(`(?m)^Benchmark\S+\s+\d+\s`), "the output of go test -bench"},
	{"table", regexp.MustCompile(`^[^\n]*\b(arm|scenario)\b[^\n]*\b(metric|value)\b`), "a table"},
}

// sniffed is the number of bytes that identify a format.
const sniffed = 4096

// Read reads a file, which is one run.
func Read(reader Reader, from Source) (*Measured, error) {
	explain := explainFormat(&from, reader.Name())
	measured, err := reader.Read(from)
	return measured, explain(err)
}

// explainFormat adds, to the error about a file, the format that it looks like, if it is
// another.
func explainFormat(from *Source, reader string) func(error) error {
	text := bufio.NewReaderSize(from.In, sniffed)
	head, _ := text.Peek(sniffed) // The reader reports any error.
	looks := looksLike(head, reader)
	from.In = text
	return func(err error) error {
		var found *fault
		if looks == "" || !errors.As(err, &found) {
			return err
		}
		return &fault{line: found.line, why: found.why + "; the file looks like " + looks}
	}
}

// looksLike names the format of a file, if it is not the requested one.
func looksLike(head []byte, reader string) string {
	for _, format := range formats {
		switch {
		case !format.begins.Match(head):
		case format.reader == reader:
			return ""
		case format.reader == "":
			return format.what
		default:
			return fmt.Sprintf("%s: use --from %s", format.what, format.reader)
		}
	}
	return ""
}
