// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/verdict"
)

// methodology says how the numbers came about, from the spec alone.
func methodology(r *record) []block {
	spec := &r.Experiment.Spec
	steps := []string{
		fmt.Sprintf("Every arm met every scenario once in every block: %s x %s x %s.",
			prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(spec.Design.Blocks, "block")),
		orderStep(&r.Experiment),
		resetStep(spec),
	}
	for _, scenario := range r.scenarios {
		steps = append(steps, fmt.Sprintf("Scenario %s: %s.", scenario.Name, describeScenario(scenario.Scenario)))
	}
	steps = append(steps, windowStep(&spec.Measurement), measureStep(&spec.Measurement), questionStep(r.answer))
	return []block{{Steps: append(steps, statisticsSteps(r.answer)...)}}
}

// questionStep says what was to be decided, which nobody can change once a run has
// begun.
func questionStep(a *answer) string {
	decides := "No metric was to decide: all are exploratory"
	if len(a.Question.Primary) > 0 {
		decides = fmt.Sprintf("What decides was fixed before the first run: %s, with a margin of %s at %s confidence",
			listed(a.Question.Primary), percent(a.marginPercent), percent(a.confidencePercent))
	}
	return fmt.Sprintf("%s (question %s).", decides, a.Question.Hash())
}

// statisticsSteps say how runs became deltas, and deltas verdicts.
func statisticsSteps(a *answer) []string {
	return []string{
		"One run gave one value per metric, however many requests are behind it: requests of one run are not independent, runs are.",
		fmt.Sprintf("Per scenario and metric, the model arm + block was fitted by least squares, on logarithms where every value is above zero. Delta, %s interval and p follow from it; a sign-flip test on the differences within blocks has to agree.",
			percent(a.confidencePercent)),
		fmt.Sprintf("A verdict was asked for in this order: Equivalent, if the interval of two one-sided tests lies within %s of the baseline; Better or Worse, if p, adjusted for everything compared, and the sign-flip test are both below %s; else Inconclusive. Fewer than %d blocks get none.",
			percent(a.marginPercent), percent(100-a.confidencePercent), verdict.MinimumBlocks),
	}
}

func orderStep(experiment *v1alpha1.PerfExperiment) string {
	if experiment.Spec.Design.Order == v1alpha1.OrderFixed {
		return "Within a block, runs were done in the order in which arms and scenarios are written."
	}
	text := "Within a block, runs were done in random order"
	if seed := experiment.Status.Seed; seed != nil {
		text += fmt.Sprintf(" (seed %d)", *seed)
	}
	return text + ", so that drift and neighbours do not favour an arm."
}

func resetStep(spec *v1alpha1.PerfExperimentSpec) string {
	switch spec.Reset {
	case v1alpha1.ResetNone:
		return "Nothing was renewed between runs."
	case v1alpha1.ResetRestoreData:
		return "Before each run the modules were stopped, the data was brought back and the modules were started again."
	case v1alpha1.ResetReschedule:
		return "Before each run every pod of the modules was taken away and scheduled afresh."
	case v1alpha1.ResetRecreate:
		return "Before each run everything was built anew, Kafka and PostgreSQL included."
	default:
		return "Before each run every module was restarted. Kafka and PostgreSQL were rebuilt only where their configuration changed."
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
		return "All of each load counted."
	}
	return fmt.Sprintf("Of each load but imports, %s did not count.", strings.Join(cut, " and "))
}

func measureStep(measurement *v1alpha1.Measurement) string {
	source := "the metrics API"
	if measurement.Prometheus != nil {
		source = "Prometheus"
	}
	return fmt.Sprintf("Response times were measured by k6, where the load was made, and kept as histograms that add up exactly over runners. Servers were sampled every %s, CPU and memory from %s.",
		prose.Duration(measurement.IntervalOrDefault()), source)
}
