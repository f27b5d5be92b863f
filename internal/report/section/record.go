// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/releases"
)

// Record is what an experiment recorded, structured for sections and charts. It is immutable.
type Record struct {
	// Input has its runs in the order of the plan, and all traces. Its arms have their labels as
	// names.
	Input
	labels labels
	// declared is the experiment as it was recorded.
	declared *v1alpha1.PerfExperiment
	// arms begin with the baseline.
	arms      []arm
	scenarios []*scenario
	journal   journal
	// notes and marks are the notes of people.
	notes []*note
	marks []mark
	// blocks is the number of complete blocks.
	blocks int32
	answer *answer
	// past is the history that ends with this experiment; nil without one.
	past *releases.History
}

// CountedRuns are the runs behind the page's numbers, which are those of the comparison: the runs
// of complete blocks, if there are any and arms to compare.
func (r *Record) CountedRuns() journal {
	if r.blocks == 0 || len(r.arms) < 2 {
		return r.journal.valid()
	}
	return r.journal.valid().only(func(run *v1alpha1.PerfRun) bool { return run.Spec.Block <= r.blocks })
}

// scenarioNamed finds the scenario of a run.
func (r *Record) scenarioNamed(name string) *scenario {
	return r.scenarios[slices.IndexFunc(r.scenarios, func(known *scenario) bool { return known.Name == name })]
}

// candidates are the arms to be compared with the baseline.
func (r *Record) candidates() []arm {
	return slices.DeleteFunc(slices.Clone(r.arms), func(one arm) bool { return one.Baseline || one.Twin })
}

// isAlone reports whether the experiment has one arm, which has no comparison except with its A/A
// control.
func (r *Record) isAlone() bool { return len(r.candidates()) == 0 }

// severalArms reports whether several arms are compared, so that each has to be named.
func (r *Record) severalArms() bool { return len(r.candidates()) > 1 }

// onlyArm is the name of the only compared arm, or the given text if there are several.
func (r *Record) onlyArm(several string) string {
	if candidates := r.candidates(); len(candidates) == 1 {
		return candidates[0].Name
	}
	return several
}

// indexOfArms returns the arms' indexes by name.
func (r *Record) indexOfArms() map[string]int {
	indexOf := map[string]int{}
	for _, one := range r.arms {
		indexOf[one.Name] = one.index
	}
	return indexOf
}

// Measured is when the last load ended.
func (r *Record) Measured() time.Time {
	_, last := r.journal.span()
	return last
}
