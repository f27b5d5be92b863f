// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/runs/earlier"
)

// newAnswer repeats the operator's analysis, because the status holds only some of the
// comparisons. Faults are errors of reading the runs.
func newAnswer(r *Record, faults []string) *answer {
	seed := int64(1)
	if recorded := r.Experiment.Status.Seed; recorded != nil {
		seed = *recorded
	}
	a := &answer{Answer: analysis.Analyze(&r.Experiment.Spec, arms.Recorded(declaredArms(r)), seed, r.Runs)}
	a.marginPercent, a.confidencePercent = float64(a.Question.MarginPercent), float64(a.Question.ConfidencePercent)
	a.uncalibrated = a.Uncalibrated()
	for i := range a.Comparisons {
		a.compared = append(a.compared, newShownComparison(&a.Comparisons[i]))
	}
	for i := range a.Pairs {
		a.pairs = append(a.pairs, newShownComparison(&a.Pairs[i]))
	}
	for _, fault := range faults {
		// The answer has read the status too.
		if !slices.Contains(a.Warnings, fault) {
			a.Warnings = append(a.Warnings, fault)
		}
	}
	return a
}

// declaredArms are the arms in the declared order, which numbers a matrix's levels.
func declaredArms(r *Record) []v1alpha1.ArmStatus {
	if len(r.Experiment.Status.Arms) > 0 {
		return r.Experiment.Status.Arms
	}
	declared := make([]v1alpha1.ArmStatus, 0, len(r.arms))
	for _, arm := range r.arms {
		declared = append(declared, arm.ArmStatus)
	}
	return declared
}

// NewRecord sorts what an experiment recorded. It fails with ErrInput if recorded objects
// contradict each other or can't be read.
func NewRecord(input Input) (*Record, error) {
	declared := input.Experiment
	r := &Record{labels: newLabels(&declared), declared: &declared}
	input = r.labels.apply(completed(input))
	r.Input = input
	r.Runs = sortedByPlan(input.Runs)
	for i := range r.Runs {
		r.journal = append(r.journal, &r.Runs[i])
	}
	r.arms = newArms(&r.Experiment, r.journal)
	var err error
	if r.past, err = r.newPast(input.History); err != nil {
		return nil, err
	}
	if r.Traces, err = newTraces(&input, r.journal); err != nil {
		return nil, err
	}
	r.blocks = analysis.CompleteBlocks(arms.Recorded(declaredArms(r)), r.Experiment.Spec.Scenarios, r.Runs)
	r.notes, r.marks = newNotes(&input), newMarks(&r.Experiment, r.journal)
	r.scenarios = newScenarios(r)
	var reader observation.Reader
	for _, run := range r.CountedRuns() {
		if err := r.scenarioNamed(run.Spec.Scenario.Name).addRun(run, &reader); err != nil {
			return nil, err
		}
	}
	for _, scenario := range r.scenarios {
		scenario.finish()
	}
	r.answer = newAnswer(r, reader.Faults())
	setCenterPlaces(r.scenarios, r.answer.compared, r.answer.pairs)
	return r, nil
}

// completed adds the fields that earlier versions did not record.
func completed(input Input) Input {
	earlier.Experiment(&input.Experiment.Status)
	input.Runs = slices.Clone(input.Runs)
	for i := range input.Runs {
		earlier.Run(&input.Runs[i])
	}
	return input
}

// newScenarios lists the declared scenarios, and then those that only runs have.
func newScenarios(r *Record) []*scenario {
	all := slices.Clone(r.Experiment.Spec.Scenarios)
	for _, run := range r.journal {
		if !slices.ContainsFunc(all, func(known v1alpha1.Scenario) bool { return known.Name == run.Spec.Scenario.Name }) {
			all = append(all, run.Spec.Scenario)
		}
	}
	scenarios := make([]*scenario, 0, len(all))
	for _, one := range all {
		scenarios = append(scenarios, &scenario{
			Scenario: one, arms: r.arms, traces: r.Traces, marks: r.marks, cells: map[place]*values{},
			runs:       r.CountedRuns().only(func(run *v1alpha1.PerfRun) bool { return run.Spec.Scenario.Name == one.Name }),
			confidence: float64(analysisplan.New(&r.Experiment.Spec).ConfidencePercent) / 100,
		})
	}
	return scenarios
}
