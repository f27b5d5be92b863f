// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/importers"
)

// The error about a file in another format names that format, with advice.
func TestFormatsAreRecognized(t *testing.T) {
	readable := map[string][]string{
		"jmeter":        {jtl, strings.ReplaceAll("\"timeStamp\";\"elapsed\"\n", "\n", "\r\n"), read(t, "jmeter.jtl"), read(t, "jmeter-xml.jtl")},
		"k6":            {read(t, "k6.json"), point("http_req_duration", 1, 1, "")},
		"k6-summary":    {read(t, "k6-export.json"), read(t, "k6-handle.json"), `{"version": "1.0.0", "metadata": {"k6_version": "2.2.0"}, "results": {}}`},
		"gatling":       {gatlingLog, gatlingOld},
		"gatling-stats": {gatlingStats, read(t, "gatling-stats.json")},
		"openmessaging": {openMessaging},
		"prometheus":    {prometheus},
		"gobench":       {read(t, "gobench.txt"), "BenchmarkA\t1\t1 ns/op\n"},
		"table":         {tableHead, "arm;scenario;metric;unit;value\n"},
	}
	for format, texts := range readable {
		for _, text := range texts {
			for _, reader := range importers.All() {
				_, err := measure(reader.Name(), text, "")
				names := err != nil && strings.Contains(err.Error(), "use --from "+format)
				if want := reader.Name() != format && err != nil; names != want {
					t.Errorf("%s reads %.60q of %s: %v", reader.Name(), text, format, err)
				}
			}
		}
	}
	if _, err := table(read(t, "jmeter.jtl")); err == nil || !strings.Contains(err.Error(), "the file looks like a JMeter JTL: use --from jmeter") {
		t.Errorf("a table: the error is %v", err)
	}
	for want, text := range map[string]string{
		"the file looks like k6 CSV output, which is not supported: run k6 with --out json=FILE":                "metric_name,timestamp,metric_value,check,error\nhttp_reqs,1641298536,1.0,,\n",
		"the file looks like the output of go test -json, which is not supported: run go test without -json":    `{"Time":"2025-01-03T08:00:00Z","Action":"output","Package":"x","Output":"BenchmarkA \\t 1\\t 1 ns/op\\n"}` + "\n",
		"the file looks like a JMeter summary report, which is not supported: use the JTL":                      "Label,# Samples,Average,Median\nlogin,20,100,99\n",
		"the file looks like the statistics.json of a JMeter report, which is not supported: use the JTL":       `{"Total": {"transaction": "Total", "sampleCount": 20, "meanResTime": 100.0}}`,
		"the file looks like the output of benchstat, which is not supported: use the input files of benchstat": "       │ old.txt │ new.txt │\n       │ sec/op │ sec/op vs base │\nA-8 1.0µ ± 1% 1.2µ ± 1% +20.00%\n",
		"the file looks like a k6 text summary, which is not supported: run k6 with":                            "     http_req_duration..............: avg=101.2ms min=80ms\n",
		"the file looks like a single scrape of an exporter's metrics, which is not supported":                  "# HELP x y\n# TYPE x gauge\nx 1\n",
	} {
		for _, reader := range importers.All() {
			if _, err := measure(reader.Name(), text, ""); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the error is %v, want %s", reader.Name(), err, want)
			}
		}
	}
}
