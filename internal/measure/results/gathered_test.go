// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

var foreignK6 = v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{Image: "example.org/k6", Results: v1alpha1.ResultsSummary}}

// gathered returns the results of runners with these logs from a standard k6.
func gathered(t *testing.T, logs ...string) results.Measured {
	t.Helper()
	var all results.LogResults
	for _, log := range logs {
		if err := all.Read(strings.NewReader(log), foreignK6, results.Source{}); err != nil {
			t.Fatal(err)
		}
	}
	measured, err := all.Measured(at(0), at(10))
	if err != nil {
		t.Fatal(err)
	}
	return measured
}

func logOf(t *testing.T, p *payload.Payload) *bytes.Buffer {
	t.Helper()
	var log bytes.Buffer
	if err := payload.Write(&log, p); err != nil {
		t.Fatal(err)
	}
	return &log
}

func TestReadRejectsOtherSources(t *testing.T) {
	asked := results.Source{Run: "run-1", Load: "cico", Pod: "run-1-cico-1-x"}
	for name, test := range map[string]struct {
		load, run, runner string
		says              string
	}{
		"what was asked":              {"cico", "run-1", "run-1-cico-1-x", ""},
		"the first half of its users": {"cico", "run-1", "run-1-cico-1-x 0:1/2", ""},
		"another run":                 {"cico", "run-2", "run-1-cico-1-x", `expected run "run-1", but the log has the results of run "run-2"`},
		"another load":                {"create", "run-1", "run-1-cico-1-x", `expected load "cico"`},
		"another pod":                 {"cico", "run-1", "run-1-cico-2-y", `expected pod "run-1-cico-1-x"`},
		"a pod of almost that name":   {"cico", "run-1", "run-1-cico-1-xy", `the results of pod "run-1-cico-1-xy"`},
		"several pods":                {"cico", "run-1", "run-1-cico-1-x,other", `the results of pod "run-1-cico-1-x,other"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := payload.New(test.load, test.run, test.runner, start)
			p.Record("Check-In", payload.OK, at(1), time.Second)
			var all results.LogResults
			err := all.Read(logOf(t, p), users(""), asked)
			if test.says == "" {
				if err != nil || !all.Any() {
					t.Errorf("refused with %v, want it taken", err)
				}
				return
			}
			if !errors.Is(err, results.ErrOtherSource) || !strings.Contains(err.Error(), test.says) || all.Any() {
				t.Errorf("error %v, want one that says %q", err, test.says)
			}
		})
	}
}

func TestSummaryIsBounded(t *testing.T) {
	metrics := func(count int, name string) string {
		var parts []string
		for n := range count {
			parts = append(parts, fmt.Sprintf(`"%s%d": {"count": 1, "rate": 1}`, name, n))
		}
		return "{\n\"metrics\": {" + strings.Join(parts, ",") + "}}\n"
	}
	for name, test := range map[string]struct {
		logs []string
		says string
	}{
		"many metrics":             {[]string{metrics(1001, "m")}, "1001 metrics, more than the limit of 1000"},
		"many of several runners":  {[]string{metrics(600, "a"), metrics(600, "b")}, "1200 metrics, more than the limit of 1000"},
		"a long name":              {[]string{metrics(1, strings.Repeat("a", 512))}, "513 bytes, more than the limit of 512"},
		"more bytes than are read": {[]string{metrics(20_000, strings.Repeat("a", 60))}, "larger than the limit of 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			var all results.LogResults
			var err error
			for _, log := range test.logs {
				err = all.Read(strings.NewReader(log), foreignK6, results.Source{})
			}
			if !errors.Is(err, payload.ErrTooLarge) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %.200v, want %v that says %q", err, payload.ErrTooLarge, test.says)
			}
			fault := results.Unreadable("load \"search\"", err)
			if fault.Reason != v1alpha1.ReasonResultsTooLarge {
				t.Errorf("fault %+v, want %s", fault, v1alpha1.ReasonResultsTooLarge)
			}
		})
	}
}

func TestCheckSamples(t *testing.T) {
	own := payload.NewSamples("run-1", "run-1-collector-x", start)
	if err := results.CheckSamples(own, "run-1", "run-1-collector-x"); err != nil {
		t.Error(err)
	}
	for _, other := range [][2]string{{"run-2", "run-1-collector-x"}, {"run-1", "run-1-collector-y"}} {
		if err := results.CheckSamples(own, other[0], other[1]); !errors.Is(err, results.ErrOtherSource) {
			t.Errorf("of %v: %v, want %v", other, err, results.ErrOtherSource)
		}
	}
}
