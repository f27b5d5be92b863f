// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/runs/runorder"
)

// ComputePrecision returns the widest interval over the blocks up to this one, without the A/A
// control.
func ComputePrecision(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, runs []v1alpha1.PerfRun, blocks int32) analysisplan.Precision {
	answer := newAnswer(spec, all, blocks)
	table, _ := tabulate(within(runorder.Sorted(runs), blocks), answer.Question.IsPrimary)
	// The seed affects only p-values, which are not used here.
	compared, err := table.Compare(answer.options(0, runs))
	if err != nil {
		return analysisplan.Precision{}
	}
	widest := analysisplan.Precision{}
	for i := range compared {
		c := &compared[i]
		if half := halfWidth(c, float64(answer.Question.ConfidencePercent)); !c.Twin && (!widest.Measured || half > widest.HalfWidthPercent) {
			widest = analysisplan.Precision{Measured: true, HalfWidthPercent: half, Scenario: c.Scenario, Metric: c.Metric, Arm: c.Arm}
		}
	}
	return widest
}

// ComputeStanding counts the primary comparisons without a verdict, over the blocks up to this one,
// without the A/A control.
func ComputeStanding(spec *v1alpha1.PerfExperimentSpec, all []arms.Arm, seed int64, runs []v1alpha1.PerfRun, blocks int32) analysisplan.VerdictProgress {
	answer := newAnswer(spec, all, blocks)
	table, _ := tabulate(within(runorder.Sorted(runs), blocks), func(name string) bool {
		return answer.Question.IsPrimary(name) || comparison.IsErrors(name)
	})
	compared, err := table.Compare(answer.withPairs(answer.options(seed, runs), spec, all))
	if err != nil {
		return analysisplan.VerdictProgress{}
	}
	standing := analysisplan.VerdictProgress{}
	for i := range compared {
		if c := &compared[i]; c.Primary && !c.Twin {
			tally(&standing, c, answer.Question)
		}
	}
	return standing
}

// tally adds a primary comparison.
func tally(standing *analysisplan.VerdictProgress, c *comparison.Comparison, question analysisplan.Question) {
	standing.Compared++
	if c.Verdict.Decides() {
		return
	}
	chance := c.Chance(question.Interim, question.Alpha())
	if standing.Undecided++; standing.Undecided == 1 || chance > standing.Chance {
		standing.Chance, standing.Scenario, standing.Metric, standing.Arm = chance, c.Scenario, c.Metric, c.Arm
	}
}

// halfWidth of a comparison's own interval, in percent of the baseline.
func halfWidth(c *comparison.Comparison, confidencePercent float64) float64 {
	low, high := c.Interval(confidencePercent)
	half := (high - low) / 2
	switch {
	case math.IsNaN(half):
		return math.Inf(1)
	case c.Scale == comparison.Ratio || half == 0:
		return half
	}
	return 100 * half / math.Abs(c.BaselineCenter)
}

// Elapsed returns the time from the start of the first run to the end of the last valid one, over
// the blocks up to this one; 0 if unknown.
func Elapsed(runs []v1alpha1.PerfRun, blocks int32) time.Duration {
	var from, to *metav1.Time
	for i := range runs {
		run := &runs[i]
		if run.Spec.Block > blocks {
			continue
		}
		timings := run.Status.Timings
		if timings.ProvisionStart != nil && (from == nil || timings.ProvisionStart.Before(from)) {
			from = timings.ProvisionStart
		}
		if timings.Finish != nil && (to == nil || to.Before(timings.Finish)) {
			to = timings.Finish
		}
	}
	if from == nil || to == nil {
		return 0
	}
	return to.Sub(from.Time)
}
