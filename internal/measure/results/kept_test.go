// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
)

func observations(count int, name string) []v1alpha1.Observation {
	var all []v1alpha1.Observation
	for n := range count {
		all = append(all, v1alpha1.Observation{Metric: fmt.Sprintf("cico/%s%05d/p95", name, n), Value: "1", Unit: "ms", Samples: 1})
	}
	return all
}

func TestWhatIsKeptOfObservations(t *testing.T) {
	long := strings.Repeat("x", 500)
	for name, test := range map[string]struct {
		all             []v1alpha1.Observation
		inStatus, inRaw int
		warnings        []string
	}{
		"few":                       {all: observations(10, ""), inStatus: 10},
		"more than the status has":  {all: observations(1200, ""), inStatus: 1000, inRaw: 1200},
		"long names":                {all: observations(600, long), inStatus: 464, inRaw: 600},
		"more than a run may leave": {all: observations(1200, long), inStatus: 464, inRaw: 697, warnings: []string{"503 of 1200 observations are not stored: the limit of a run is 384 KiB"}},
		"twins":                     {all: slices.Concat(observations(3, ""), observations(2, "")), inStatus: 3, warnings: []string{"2 observations are omitted because they have the name of another"}},
	} {
		t.Run(name, func(t *testing.T) {
			kept, err := results.SelectForStatus(test.all)
			if err != nil {
				t.Fatal(err)
			}
			var raw []v1alpha1.Observation
			if len(kept.Raw) > 0 {
				if err := json.Unmarshal(kept.Raw, &raw); err != nil {
					t.Fatal(err)
				}
			}
			if len(kept.Status) != test.inStatus || len(raw) != test.inRaw {
				t.Errorf("%d in the status and %d raw, want %d and %d", len(kept.Status), len(raw), test.inStatus, test.inRaw)
			}
			if len(kept.Warnings) != len(test.warnings) {
				t.Fatalf("warnings %q, want %q", kept.Warnings, test.warnings)
			}
			for i, says := range test.warnings {
				if !strings.Contains(kept.Warnings[i], says) {
					t.Errorf("warning %q, want one that says %q", kept.Warnings[i], says)
				}
			}
		})
	}
}

func TestWindowsAreLeftOutBeforeWholeStretches(t *testing.T) {
	all := observations(1200, "")
	for i := range 600 {
		all[2*i].Metric += "@alone"
	}
	kept, err := results.SelectForStatus(all)
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range kept.Status {
		if window := strings.Contains(one.Metric, "@"); window != (i >= 600) {
			t.Fatalf("%s is at place %d, want the 600 whole stretches first", one.Metric, i)
		}
	}
}
