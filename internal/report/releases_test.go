// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// historyWith has 14 releases; the last so many take a tenth longer.
func historyWith(t *testing.T, slower int) *releases.History {
	t.Helper()
	var all []releases.Measured
	for i := range 14 {
		truth := recorded.Truth{
			Seed: uint64(i), Blocks: 6, Baseline: 400, Spread: 0.01, Users: 8, Image: "users:1", Arms: map[string]float64{"<small>": 1.3},
			Began: time.Date(2026, time.January, 1+14*i, 8, 0, 0, 0, time.UTC),
		}
		if i >= 14-slower {
			truth.Baseline, truth.Image = 440, "users:2"
		}
		experiment, runs := truth.Draw()
		experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: fmt.Sprintf("2026.%d", i+1)}
		experiment.Spec.Analysis.Primary = []string{recorded.CheckIn}
		one, err := releases.Measure(releases.Record{Experiment: experiment, Runs: runs})
		expect.NoError(t, err)
		all = append(all, one)
	}
	history, err := releases.Of(all, releases.Options{})
	expect.NoError(t, err)
	return history
}

func TestOfReleases(t *testing.T) {
	page, err := report.OfReleases(historyWith(t, 6)).HTML()
	expect.NoError(t, err)
	expect.Contains(t, string(page), []string{
		"2 changes were found; in 2 of 2 series the last one is for the worse.", "Check-In average response time under cico",
		"&lt;small&gt;", `<span class="verdict worse">Worse</span>`, "between 2026.8 and 2026.9", "modules[mod-users].image: users:1 → users:2",
		"stroke-dasharray", "anywhere in these 2 series", "2026.14",
	})
	if strings.Contains(string(page), "<small>") {
		t.Error("an arm's name is an element of the page")
	}
}

func TestOfReleasesWithoutChange(t *testing.T) {
	page, err := report.OfReleases(historyWith(t, 0)).HTML()
	expect.NoError(t, err)
	if text := string(page); !strings.Contains(text, "No change was found.") || strings.Contains(text, `id="changes"`) {
		t.Error("a history without change tells of one")
	}
}
