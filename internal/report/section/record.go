// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/releases"
)

// Record is what an experiment recorded, in the shape in which sections and
// charts ask for it. Nothing changes it once it is made.
type Record struct {
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

// CountedRuns are the runs that the page's numbers rest on, which are those of the
// comparison: of complete blocks, as long as there are any and arms to compare.
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

// isAlone: the experiment has one arm, which is compared with nothing but its twin.
func (r *Record) isAlone() bool { return len(r.candidates()) == 0 }

// severalArms: more than one arm is compared, so that each has to be named.
func (r *Record) severalArms() bool { return len(r.candidates()) > 1 }

// onlyArm is the name of the one that is compared; what stands for each of them
// where there are several.
func (r *Record) onlyArm(several string) string {
	if candidates := r.candidates(); len(candidates) == 1 {
		return candidates[0].Name
	}
	return several
}

// indexOfArms by their names.
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
