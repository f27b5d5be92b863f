// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/scalability"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
)

// lawful is an experiment whose throughput follows a law in each arm, within 2 %.
func lawful() report.Input {
	laws := map[string]scalability.Law{
		"full": {Lambda: 0.2, Sigma: 0.0005, Kappa: 5e-6},
		"half": {Lambda: 0.2, Sigma: 0.004},
	}
	random := rand.New(rand.NewPCG(3, 1))
	input := halved(7)
	for i := range input.Runs {
		run := &input.Runs[i]
		for _, level := range run.Status.Capacity.Levels {
			for n := range level.Observations {
				if one := &level.Observations[n]; one.Metric == "cico/iterationsPerSecond" {
					one.Value = decimal.Format(laws[run.Spec.Arm].At(float64(level.Level)) * math.Exp(0.02*random.NormFloat64()))
				}
			}
		}
	}
	return input
}

func TestScalabilityIsReported(t *testing.T) {
	page := string(reportOf(t, lawful()).Markdown("charts"))
	expect.Contains(t, page, []string{
		"Universal Scalability Law of desk",
		"| `full` | 42 | 0.1997 (0.1941 to 0.2056) | 0.046 (0.027 to 0.066) | 5.07 (4.84 to 5.30) | 444 (434 to 454) | 1.8 |",
		"| `half` | 42 | 0.2019 (0.1959 to 0.2094) | 0.407 (0.373 to 0.450) | 0.00 (0.00 to 0.36) | above 1000 | 2.1 |",
		"Universal Scalability Law: throughput of full peaks at 444 users (434 to 454); throughput of half grows up to the highest level, 1000 users.",
		"one line per run, and the Universal Scalability Law, dashed.",
	}, "the page")
}

// If the law does not fit, the page says why, and draws no curve.
func TestScalabilityIsRefused(t *testing.T) {
	open, few := lawful(), lawful()
	for i := range open.Runs {
		arrivals := &v1alpha1.Arrivals{PerMinute: 1000}
		open.Runs[i].Spec.Scenario.Loads[0].CheckInCheckOut.Arrivals = arrivals
		open.Experiment.Spec.Scenarios[0].Loads[0].CheckInCheckOut.Arrivals = arrivals
		few.Runs[i].Status.Capacity.Levels = few.Runs[i].Status.Capacity.Levels[:1]
	}
	few.Runs = few.Runs[:6]
	for name, c := range map[string]struct {
		input report.Input
		want  string
	}{
		// Users wait until a sudden limit.
		"sudden limit": {halved(7), "Universal Scalability Law: full does not follow the law: its throughput deviates systematically; half does not"},
		"arrivals":     {open, "The Universal Scalability Law is not fitted: it requires levels of users who wait for each response"},
		"few levels":   {few, "full has throughput at too few levels"},
	} {
		page := string(reportOf(t, c.input).Markdown("charts"))
		if !strings.Contains(page, c.want) || strings.Contains(page, "Law, dashed") {
			t.Errorf("%s: the page lacks %q, or has a curve", name, c.want)
		}
	}
}
