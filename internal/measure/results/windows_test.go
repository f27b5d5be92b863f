// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

func importFrom(name string, from, to int) (v1alpha1.Load, *payload.Payload) {
	p := payload.New(name, "run", "1", at(from))
	p.End, p.Final = at(to), true
	return v1alpha1.Load{Name: name, DataImport: &v1alpha1.DataImport{Records: 1, Imports: 1}}, p
}

// cicoWithTwoImports: users for 30 s, one import from 8 s to 12 s, one from
// 20 s to 24 s.
func cicoWithTwoImports(t *testing.T) ([]v1alpha1.Load, map[string]results.Measured) {
	small, smallMeasured := importFrom("create-1k", 8, 12)
	large, largeMeasured := importFrom("create-5k", 20, 24)
	return loads(users(""), small, large), measurements(cico(t), smallMeasured, largeMeasured)
}

func TestWindows(t *testing.T) {
	all, measured := cicoWithTwoImports(t)
	want := []results.Window{
		{Name: "alone", From: at(0), To: at(8)},
		{Name: "during-create-1k", From: at(8), To: at(12)},
		{Name: "during-create-5k", From: at(20), To: at(24)},
		{Name: "after", From: at(24), To: at(30)},
	}
	if diff := cmp.Diff(want, results.Windows(all, measured)); diff != "" {
		t.Errorf("windows (-want +got):\n%s", diff)
	}
}

func TestAScenarioOfOneKindHasNoWindows(t *testing.T) {
	small, smallMeasured := importFrom("create-1k", 8, 12)
	for name, all := range map[string][]v1alpha1.Load{"users": loads(users("")), "imports": loads(small)} {
		if got := results.Windows(all, measurements(cico(t), smallMeasured)); len(got) > 0 {
			t.Errorf("%s alone: windows %v, want none", name, got)
		}
	}
}

// One run has results for each size of import: response times rise from 100 ms to 300 ms over the
// run, ten seconds each.
func TestObserveEachWindow(t *testing.T) {
	all, measured := cicoWithTwoImports(t)
	measurement := v1alpha1.Measurement{
		WarmUp: &metav1.Duration{Duration: 2 * time.Second}, Tail: &metav1.Duration{Duration: 3 * time.Second},
	}
	observations := results.Observe(all, measured, measurement)
	for metric, want := range map[string]struct{ average, samples string }{
		"cico/Check-In/%s@alone":            {"100", "6"},
		"cico/Check-In/%s@during-create-1k": {"150", "4"},
		"cico/Check-In/%s@during-create-5k": {"300", "4"},
		"cico/Check-In/%s@after":            {"300", "3"},
	} {
		at := func(statistic string) string { return metricOf(metric, statistic) }
		if got := value(t, observations, at("average")).Value; got != want.average {
			t.Errorf("%s = %s, want %s", at("average"), got, want.average)
		}
		if got := value(t, observations, at("samples")).Value; got != want.samples {
			t.Errorf("%s = %s, want %s", at("samples"), got, want.samples)
		}
	}
	if got := value(t, observations, "cico/Check-In/samples").Value; got != "25" {
		t.Errorf("samples without warm-up and tail: %s, want 25", got)
	}
}

func TestSortPutsWholeStretchesFirst(t *testing.T) {
	observations := []v1alpha1.Observation{{Metric: "b@alone"}, {Metric: "c"}, {Metric: "a@alone"}, {Metric: "a"}}
	results.Sort(observations)
	var got []string
	for _, observation := range observations {
		got = append(got, observation.Metric)
	}
	if diff := cmp.Diff([]string{"a", "c", "a@alone", "b@alone"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestCheckClock(t *testing.T) {
	own := results.Measured{Start: at(10), End: at(40)}
	for name, test := range map[string]struct {
		own         results.Measured
		made, ended int
		skewed      bool
	}{
		"in order":                        {own: own, made: 0, ended: 42},
		"to the second":                   {own: own, made: 12, ended: 38},
		"before it was made":              {own: own, made: 16, ended: 42, skewed: true},
		"after it was seen to have ended": {own: own, made: 0, ended: 34, skewed: true},
		"backwards":                       {own: results.Measured{Start: at(10), End: at(9)}, made: 0, ended: 42, skewed: true},
	} {
		fault := results.CheckClock("cico", test.own, at(test.made), at(test.ended))
		if (fault != nil) != test.skewed {
			t.Errorf("%s: fault %+v, want one: %t", name, fault, test.skewed)
		}
	}
}

func TestCheckGap(t *testing.T) {
	gap := func(source string, seconds int) results.Gap {
		return results.Gap{Source: source, Length: time.Duration(seconds) * time.Second, Interval: 15 * time.Second}
	}
	silent := func(seconds ...int) []results.Window {
		var stretches []results.Window
		for i, length := range seconds {
			stretches = append(stretches, results.Window{From: at(100 * i), To: at(100*i + length)})
		}
		return stretches
	}
	const counted = 1000
	for name, test := range map[string]struct {
		gap            results.Gap
		silences       []results.Window
		allowed        int32
		fault, warning string
	}{
		"one interval":     {gap: gap(results.SilentCollectorReason, 16)},
		"silent collector": {gap: gap(results.SilentCollectorReason, 50), silences: silent(50), fault: "the servers were not sampled for 50s, more than 3 intervals of 15s: see the collector's log, or its node's load"},
		"silent source":    {gap: gap("metrics", 50), warning: "metrics provided no values of the servers for 50s"},
		"as allowed": {
			gap: gap(results.SilentCollectorReason, 60), silences: silent(60, 50), allowed: 11,
			warning: "the servers were not sampled for 1m50s in all, in 2 gaps (11 % of the measured time): averages omit this time",
		},
		"more than allowed": {
			gap: gap(results.SilentCollectorReason, 60), silences: silent(60, 51), allowed: 11,
			fault: "the servers were not sampled for 1m51s in all, 11.1 % of the measured time and more than the 11 % that validity.maxGapPercent allows: see the collector's log, or its node's load",
		},
		"a source beside what is allowed": {gap: gap("metrics", 50), allowed: 11, warning: "metrics provided no values of the servers for 50s"},
	} {
		fault, warning := results.CheckGap(test.gap, test.silences, results.Window{From: at(0), To: at(counted)}, v1alpha1.Validity{MaxGapPercent: &test.allowed})
		found := ""
		if fault != nil {
			found = fault.Message
		}
		if found != test.fault || warning != test.warning {
			t.Errorf("%s: fault %q, warning %q, want %q, %q", name, found, warning, test.fault, test.warning)
		}
	}
}

func TestASaturatedGeneratorMeasuresItself(t *testing.T) {
	for used, reason := range map[float64]string{1.5: "", 1.7: v1alpha1.ReasonGeneratorSaturated} {
		p := cico(t)
		for second := range 30 {
			p.Count(payload.GeneratorCPU, at(second), used)
			p.Count(payload.GeneratorCPULimit, at(second), 2)
		}
		fault := results.Check(users(""), measurements(p), v1alpha1.Measurement{}, v1alpha1.Validity{})
		if got := fault; (got != nil) != (reason != "") || got != nil && got.Reason != reason {
			t.Errorf("%g of 2 CPUs: %+v, want %q", used, got, reason)
		}
	}
}

func TestBusyDatabasesAreWarnedOf(t *testing.T) {
	observations := []v1alpha1.Observation{
		{Metric: "postgres/primary/cpu/percentOfLimit", Value: "96"},
		{Metric: "postgres/primary/cpu/percentOfLimit@alone", Value: "99"},
		{Metric: "module/mod-users/cpu/percentOfLimit", Value: "99"},
		{Metric: "kafka/broker-0/cpu/percentOfRequest", Value: "50"},
	}
	if got := results.Warnings(observations); len(got) != 1 || !strings.Contains(got[0], "postgres/primary used 96 % of its CPU limit") {
		t.Errorf("warnings %q, want one on the primary", got)
	}
}

// The window before an import also has figures of servers, even if the users' own figures count
// only during the import.
func TestSteadyReachesBeyondImports(t *testing.T) {
	create, created := importFrom("create", 10, 20)
	window := results.Steady(loads(users("create"), create), measurements(cico(t), created), warmUp(2*time.Second))
	if want := (results.Window{From: at(2), To: at(30)}); window != want {
		t.Errorf("steady %v, want %v", window, want)
	}
}

// One saturated runner among idle ones is detected, though their sum has CPU to spare.
func TestEachRunnerIsLookedAt(t *testing.T) {
	busy, idle := cico(t), cico(t)
	busy.Runner, idle.Runner = "busy", "idle"
	for runner, used := range map[*payload.Payload]float64{busy: 1.9, idle: 0.1} {
		runner.Count(payload.GeneratorCPU, at(5), used)
		runner.Count(payload.GeneratorCPULimit, at(5), 2)
	}
	var all results.LogResults
	for _, one := range []*payload.Payload{busy, idle} {
		if err := all.Read(logOf(t, one), users(""), results.Source{Run: "run", Load: "cico", Pod: one.Runner}); err != nil {
			t.Fatal(err)
		}
	}
	own, err := all.Measured(time.Time{}, time.Time{})
	if err != nil || math.Abs(own.GeneratorPercent-95) > 1e-9 || own.Histograms.Total(payload.GeneratorCPU) != 2 {
		t.Errorf("%g %% of %g CPU seconds, %v; want the busy one's 95 %%", own.GeneratorPercent, own.Histograms.Total(payload.GeneratorCPU), err)
	}
}
