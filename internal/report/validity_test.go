// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// What is left out of a run that counts is listed, and what an attempt that does not count had
// measured stands apart.
func TestPartsThatDoNotCountAreListed(t *testing.T) {
	input := recorded.Experiment(seed)
	input.Experiment.Spec.Validity.Unsound = v1alpha1.UnsoundIsLeftOut
	counted, refused := "", ""
	for i := range input.Runs {
		switch run := &input.Runs[i]; {
		case run.Status.Phase == v1alpha1.RunSucceeded && counted == "":
			counted = run.Name
			run.Status.Warnings = append(run.Status.Warnings, `left out during create-5k: load "cico": 9 of 60 transactions failed`, "postgres was busy")
		case run.Status.Phase == v1alpha1.RunInvalid && refused == "":
			refused = run.Name
			run.Status.Observations = []v1alpha1.Observation{
				{Metric: recorded.CheckIn, Value: "123.456", Unit: "ms", Samples: 77},
				{Metric: "create/import-3/duration", Value: "61.5", Unit: "s", Samples: 1},
				{Metric: "cico/Check-In/p99", Value: "4711", Unit: "ms", Samples: 77},
			}
		}
	}
	if counted == "" || refused == "" {
		t.Fatal("no run that counts and one that does not")
	}
	page := written(t, reportOf(t, input), "report.md")
	_, section, _ := strings.Cut(page, "## Validity")
	section, _, _ = strings.Cut(section, "\n## ")
	expect.Contains(t, section, []string{
		"Each load, and each window of it beside imports, counts if it is sound by itself",
		"| `" + counted + "` | ", "During create-5k: load \"cico\": 9 of 60 transactions failed",
		"| `" + refused + "` | `" + recorded.CheckIn + "` | 123.456\u00a0ms | 77 |",
		"`create/import-3/duration` | 61.5\u00a0s | 1 |",
	}, "the section on validity")
	for _, unwanted := range []string{"postgres was busy", "4711"} {
		if strings.Contains(section, unwanted) {
			t.Errorf("the section on validity has %q", unwanted)
		}
	}
	if strings.Count(page, "123.456") != 1 {
		t.Error("what does not count is in another figure")
	}
}
