// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// methodology describes how the numbers were obtained, from the spec only.
func methodology(r *Record) []document.Block {
	if r.measuredElsewhere() {
		return []document.Block{{Steps: slices.Concat(r.elsewhereSteps(), statisticsSteps(r.answer))}}
	}
	spec := &r.Experiment.Spec
	steps := []string{
		fmt.Sprintf("Every block has one run of every arm under every scenario: %s x %s x %s.",
			prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(spec.DesignOrDefault().Blocks, "block")),
		orderStep(&r.Experiment),
		resetStep(spec),
	}
	for _, scenario := range r.scenarios {
		steps = append(steps, fmt.Sprintf("Scenario %s: %s.", scenario.Name, describeScenario(scenario.Scenario)))
	}
	steps = append(steps, windowStep(&spec.Measurement), measureStep(&spec.Measurement), questionStep(r.answer))
	return []document.Block{{Steps: append(steps, statisticsSteps(r.answer)...)}}
}

// questionStep states the question, which is immutable once a run has started.
func questionStep(a *answer) string {
	decides := "There are no primary metrics: all are exploratory"
	if len(a.Question.Primary) > 0 {
		decides = fmt.Sprintf("The primary metrics were fixed before the first run: %s, with a margin of %s at %s confidence",
			joinAnd(plainNames(a.Question.Primary)), percent(a.marginPercent), percent(a.confidencePercent))
	}
	return fmt.Sprintf("%s (question %s).", decides, a.Question.Hash())
}

// statisticsSteps describe how runs become deltas, and deltas verdicts.
func statisticsSteps(a *answer) []string {
	steps := []string{
		"Each run gives one value per metric, regardless of its number of requests: requests within a run are not independent; runs are.",
		"For each scenario and metric, the additive model arm + block was fitted by least squares, on the log scale if all values are positive. It yields delta, interval and p. p is adjusted for all comparisons: for primary metrics by Holm's procedure (1979), for the others by Benjamini and Hochberg's (1995). The error probability of an interval is divided by the factor by which its p was adjusted (Efird and Nielsen 2008). If a sign-flip test on the within-block differences disagrees, the interval is extended to 0.",
		fmt.Sprintf("Verdicts, in this order: Equivalent if the unadjusted %s interval lies within %s of the baseline (two one-sided tests); Better or Worse if the adjusted %s interval excludes 0; otherwise Inconclusive. Tables and figures show the interval behind the verdict. With fewer than %d blocks, there is no verdict.",
			percent(2*a.confidencePercent-100), percent(a.marginPercent), percent(a.confidencePercent), verdict.MinimumBlocks),
	}
	if interim := a.Question.Interim; interim.Last > 0 {
		steps = append(steps, fmt.Sprintf("Interim analyses after each block, from block %d to at most block %d, stop the experiment once every primary metric has a verdict or is unlikely to get one (futility). Intervals and p account for all of them: the spent error probability grows with the square of the number of blocks (Kim and DeMets 1987). An experiment that stops early tends to overstate its effects; its intervals remain valid.",
			interim.First, interim.Last))
	}
	return steps
}

func orderStep(experiment *v1alpha1.PerfExperiment) string {
	if experiment.Spec.Design.Order == v1alpha1.OrderFixed {
		return "Within a block, runs followed the declared order of arms and scenarios."
	}
	text := "Within a block, runs were in random order"
	if seed := experiment.Status.Seed; seed != nil {
		text += fmt.Sprintf(" (seed %d)", *seed)
	}
	return text + ", so that drift and noisy neighbors do not favor an arm."
}

func resetStep(spec *v1alpha1.PerfExperimentSpec) string {
	switch spec.Reset {
	case v1alpha1.ResetNone:
		return "Nothing was reset between runs."
	case v1alpha1.ResetRestoreData:
		return "Before each run, the modules were stopped, the data was restored, and the modules were started again."
	case v1alpha1.ResetReschedule:
		return "Before each run, every module pod was deleted and rescheduled."
	case v1alpha1.ResetRecreate:
		return "Before each run, everything was rebuilt, including Kafka and PostgreSQL."
	default:
		return "Before each run, every module was restarted. Kafka and PostgreSQL were rebuilt only if their configuration changed."
	}
}

func windowStep(measurement *v1alpha1.Measurement) string {
	var cut []string
	if warmUp := measurement.WarmUpOrDefault(); warmUp > 0 {
		cut = append(cut, "the first "+prose.Duration(warmUp))
	}
	if tail := measurement.TailOrDefault(); tail > 0 {
		cut = append(cut, "the last "+prose.Duration(tail))
	}
	if len(cut) == 0 {
		return "Each load was measured from start to end."
	}
	return capitalize(strings.Join(cut, " and ")) + " of each load were excluded, except for imports."
}

func measureStep(measurement *v1alpha1.Measurement) string {
	source := "the metrics API"
	if measurement.Prometheus != nil {
		source = "Prometheus"
	}
	return fmt.Sprintf("Response times were measured by k6 at the load generator and kept as histograms that merge exactly across runners. Servers were sampled every %s, CPU and memory from %s.",
		prose.Duration(measurement.IntervalOrDefault()), source)
}
