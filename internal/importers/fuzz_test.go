// SPDX-License-Identifier: Apache-2.0

package importers_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/importers"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// Each reader rejects any file or returns valid numbers.
func FuzzReaders(f *testing.F) {
	for _, seed := range []string{jtl, gatlingLog, gatlingOld, gatlingStats, openMessaging, prometheus, read(f, "k6.json"), read(f, "k6-export.json"), read(f, "k6-handle.json"), read(f, "jmeter-xml.jtl"), read(f, "gobench.txt")} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, reader := range importers.All() {
			got, err := reader.Read(importers.Source{In: strings.NewReader(text), Load: "cico", Memory: payload.NewBudget(16 << 20)})
			if err != nil {
				if !errors.Is(err, importers.ErrFile) && !errors.Is(err, payload.ErrTooLarge) {
					t.Errorf("%s: the error is neither of the file nor of its size: %v", reader.Name(), err)
				}
				continue
			}
			check(t, reader.Name(), got)
		}
	})
}

func check(t *testing.T, format string, got *importers.Measured) {
	t.Helper()
	values := map[string]float64{}
	for _, one := range got.Observations {
		value, err := strconv.ParseFloat(one.Value, 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
			t.Errorf("%s: %s is %q", format, one.Metric, one.Value)
		}
		if _, twice := values[one.Metric]; twice {
			t.Errorf("%s: %s is there twice", format, one.Metric)
		}
		values[one.Metric] = value
		if parsed := metric.Parse(one.Metric); parsed.Name != one.Metric || parsed.Component != "" && parsed.Component != metric.Custom {
			t.Errorf("%s: %q is taken for %+v", format, one.Metric, parsed)
		}
	}
	if len(values) == 0 || got.End.Before(got.Start) && !got.End.IsZero() {
		t.Errorf("%s: %d values from %s to %s", format, len(values), got.Start, got.End)
	}
	for name, p50 := range values {
		of, isMedian := strings.CutSuffix(name, "/"+metric.P50)
		if p95, found := values[metric.Name(of, metric.P95)]; isMedian && found && format == "jmeter" && (p95 < p50 || values[metric.Name(of, metric.Max)] < p95) {
			t.Errorf("%s: of %s half are within %g, and 95 %% within %g", format, of, p50, p95)
		}
	}
}

// Tables are rejected, or every run in them has a place and values.
func FuzzTables(f *testing.F) {
	f.Add(tableHead + "2025.1,base,1,cico,cico/Check-In/average,s,0.4\n2025.1,base,2,cico,custom/a,,-3\n")
	f.Add("arm,scenario,metric,unit,value\na,s,l/t/errors,%,1\n")
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := table(text)
		if err != nil {
			if !errors.Is(err, importers.ErrFile) && !errors.Is(err, payload.ErrTooLarge) {
				t.Errorf("the error is neither of the file nor of its size: %v", err)
			}
			return
		}
		for _, run := range runs {
			if run.Arm == "" || run.Scenario == "" || run.Block < 1 || len(run.Loads) == 0 || len(run.Measured.Observations) == 0 {
				t.Errorf("a run is %+v", run)
			}
		}
	})
}
