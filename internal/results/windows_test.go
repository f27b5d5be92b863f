// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/results"
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

// One run answers for each size of import: response times rise from 100 ms to
// 300 ms over the run, ten seconds each.
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
