// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/releases"
)

// record is what an experiment recorded, in the shape in which sections and
// charts ask for it. Nothing changes it once it is made.
type record struct {
	// Input has its runs in the order of the plan, and all traces. Arms are called by
	// their labels in it.
	Input
	labels labels
	// declared is the experiment as it was recorded.
	declared *v1alpha1.PerfExperiment
	// arms are listed from the baseline on.
	arms      []arm
	scenarios []*scenario
	journal   journal
	// notes and marks are what people have added.
	notes []*note
	marks []mark
	// blocks are complete.
	blocks int32
	answer *answer
	// past is the end of the history that the experiment is the last point of; nil: it
	// has none.
	past *releases.History
}

// arm is a configuration, as the report shows it.
type arm struct {
	v1alpha1.ArmStatus
	// shade is the arm's colour and mark in charts.
	shade int
	// index among the report's arms.
	index int
}

func newRecord(input Input) (*record, error) {
	declared := input.Experiment
	r := &record{labels: labelsOf(&declared), declared: &declared}
	input = r.labels.labelled(input)
	r.Input = input
	r.Runs = inPlanOrder(input.Runs)
	for i := range r.Runs {
		r.journal = append(r.journal, &r.Runs[i])
	}
	r.arms = armsOf(&r.Experiment, r.journal)
	var err error
	if r.past, err = r.pastOf(input.History); err != nil {
		return nil, err
	}
	if r.Traces, err = tracesOf(&input, r.journal); err != nil {
		return nil, err
	}
	r.blocks = analysis.CompleteBlocks(arms.Recorded(armsAsDeclared(r)), r.Experiment.Spec.Scenarios, r.Runs)
	r.notes, r.marks = notesOf(&input), marksIn(&r.Experiment, r.journal)
	r.scenarios = scenariosOf(r)
	var reader observation.Reader
	for _, run := range r.counted() {
		if err := r.under(run.Spec.Scenario.Name).take(run, &reader); err != nil {
			return nil, err
		}
	}
	for _, scenario := range r.scenarios {
		scenario.settle()
	}
	r.answer = answerOf(r, reader.Faults())
	carryDeltas(r.scenarios, r.answer.compared, r.answer.pairs)
	return r, nil
}

// counted are the runs that the page's numbers rest on, which are those of the
// comparison: of complete blocks, as long as there are any and arms to compare.
func (r *record) counted() journal {
	if r.blocks == 0 || len(r.arms) < 2 {
		return r.journal.valid()
	}
	return r.journal.valid().only(func(run *v1alpha1.PerfRun) bool { return run.Spec.Block <= r.blocks })
}

// under finds the scenario of a run.
func (r *record) under(name string) *scenario {
	return r.scenarios[slices.IndexFunc(r.scenarios, func(known *scenario) bool { return known.Name == name })]
}

// candidates are the arms to be compared with the baseline.
func (r *record) candidates() []arm {
	return slices.DeleteFunc(slices.Clone(r.arms), func(one arm) bool { return one.Baseline || one.Twin })
}

// isAlone: the experiment has one arm, which is compared with nothing but its twin.
func (r *record) isAlone() bool { return len(r.candidates()) == 0 }

// severalArms: more than one arm is compared, so that each has to be named.
func (r *record) severalArms() bool { return len(r.candidates()) > 1 }

// onlyArm is the name of the one that is compared; what stands for each of them
// where there are several.
func (r *record) onlyArm(several string) string {
	if candidates := r.candidates(); len(candidates) == 1 {
		return candidates[0].Name
	}
	return several
}

// series are the arms as charts draw them.
func (a arm) series() Series {
	return Series{Name: a.Name, Index: a.index, Shade: a.shade, Muted: a.Twin}
}

// seriesOf arms, as a page lists them.
func seriesOf(arms []arm) []documentSeries {
	var all []documentSeries
	for _, one := range arms {
		all = append(all, one.series().InDocument())
	}
	return all
}

// indexOfArms by their names.
func (r *record) indexOfArms() map[string]int {
	indexOf := map[string]int{}
	for _, one := range r.arms {
		indexOf[one.Name] = one.index
	}
	return indexOf
}

// armsOf lists the arms as the experiment recorded them; before its first run,
// as it declares them. The baseline comes first.
func armsOf(experiment *v1alpha1.PerfExperiment, runs journal) []arm {
	var all []arm
	for _, status := range experiment.Status.Arms {
		all = append(all, arm{ArmStatus: status})
	}
	if len(all) == 0 {
		for _, declared := range experiment.Spec.Arms {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: declared.Name, Baseline: declared.Baseline}})
		}
	}
	for _, run := range runs {
		if !slices.ContainsFunc(all, func(known arm) bool { return known.Name == run.Spec.Arm }) {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: run.Spec.Arm}})
		}
	}
	slices.SortStableFunc(all, func(a, b arm) int { return cmp.Compare(rank(a), rank(b)) })
	shade(all)
	return all
}

// rank puts the baseline first and its twin next to it.
func rank(a arm) int {
	switch {
	case a.Baseline:
		return 0
	case a.Twin:
		return 1
	}
	return 2
}

// shade gives each arm its index, and a shade of its own; a twin has none.
func shade(all []arm) {
	next := 0
	for i := range all {
		all[i].index, all[i].shade = i, next
		if !all[i].Twin {
			next++
		}
	}
}
