// SPDX-License-Identifier: Apache-2.0

// Package runfilter tells the runs of an experiment from those that only name it.
// Whoever may make PerfRuns can make one that looks like a run that was
// measured; what does not follow from the experiment is left out wherever runs
// are counted, compared or reported. It is pure.
package runfilter

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Foreign is a run that names an experiment and is not one of its runs.
type Foreign struct {
	Namespace, Name string
	// Why it is none, as the end of a sentence.
	Why string
}

// LeftOut begins what is said about a foreign run.
const LeftOut = "left out: PerfRun"

// String says what is left out, and what to do with it.
func (f Foreign) String() string {
	return fmt.Sprintf("%s %q %s; it counts in no result and no report: delete it if it is not needed (kubectl delete perfrun %s -n %s)",
		LeftOut, f.Name, f.Why, f.Name, f.Namespace)
}

// Plan is what the runs of an experiment must follow.
type Plan struct {
	// Hash of the plan; empty: none is known yet.
	Hash string
	// spec that was planned; nil: it is not known, because it was changed since.
	spec *v1alpha1.PerfExperimentSpec
}

// PlanOf is the plan of this spec, whose runs carry the hash.
func PlanOf(spec *v1alpha1.PerfExperimentSpec, hash string) Plan {
	return Plan{Hash: hash, spec: spec}
}

// Recorded is the plan that an experiment's status tells of. Of a record only
// the hash counts: it was planned elsewhere.
func Recorded(experiment *v1alpha1.PerfExperiment) Plan {
	status := &experiment.Status
	stalled := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionStalled)
	changed := stalled != nil && stalled.Reason == v1alpha1.ReasonSpecChanged
	if changed || provenance.IsImported(experiment) {
		return Plan{Hash: status.PlanHash}
	}
	return PlanOf(&experiment.Spec, status.PlanHash)
}

// has reports whether there is a place for the run. The system does not matter:
// places follow from the names of arms and scenarios.
func (p Plan) has(run *v1alpha1.PerfRunSpec) bool {
	_, arm := arms.Named(arms.All(p.spec, v1alpha1.System{}), run.Arm)
	scenario := slices.ContainsFunc(p.spec.Scenarios, func(known v1alpha1.Scenario) bool { return known.Name == run.Scenario.Name })
	return arm && scenario && run.Block >= 1 && run.Block <= p.spec.DesignOrDefault().MostBlocks()
}

// Why says why a run is none of the experiment's, as the end of a sentence;
// empty: it is one.
func Why(experiment *v1alpha1.PerfExperiment, followed Plan, run *v1alpha1.PerfRun) string {
	if why := whyNotOwned(experiment, run); why != "" {
		return why
	}
	return followed.whyNot(experiment, run)
}

func whyNotOwned(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun) string {
	switch {
	case run.Spec.Experiment != experiment.Name:
		return fmt.Sprintf("is labelled as one of this experiment, and is of %q by its spec", run.Spec.Experiment)
	case !metav1.IsControlledBy(run, experiment):
		return "names this experiment, and is not owned by it"
	case provenance.IsImported(run) && !provenance.IsImported(experiment):
		return "was imported, and this experiment is measured here"
	default:
		return ""
	}
}

func (p Plan) whyNot(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun) string {
	spec := &run.Spec
	if p.Hash != "" && spec.PlanHash != p.Hash {
		return fmt.Sprintf("follows plan %q, and this experiment plan %q", spec.PlanHash, p.Hash)
	}
	if p.spec == nil {
		return ""
	}
	// For each that was deleted there may be another.
	attempts := max(p.spec.Validity.MaxAttempts, experiment.Status.Attempts.At(spec.Position)+1)
	switch {
	case !p.has(spec):
		return fmt.Sprintf("is at a place that the plan does not have (block %d, arm %q, scenario %q)", spec.Block, spec.Arm, spec.Scenario.Name)
	case spec.Attempt < 1 || spec.Attempt > attempts:
		return fmt.Sprintf("is attempt %d at its place, which may have %d", spec.Attempt, attempts)
	default:
		return ""
	}
}

// Owned are the runs that the experiment owns, whatever they follow, and those
// that only name it.
func Owned(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) (own []v1alpha1.PerfRun, foreign []Foreign) {
	return split(experiment, runs, func(run *v1alpha1.PerfRun) string { return whyNotOwned(experiment, run) })
}

// Following are the runs that follow a plan, and those that don't.
func Following(experiment *v1alpha1.PerfExperiment, followed Plan, runs []v1alpha1.PerfRun) (own []v1alpha1.PerfRun, foreign []Foreign) {
	return split(experiment, runs, func(run *v1alpha1.PerfRun) string { return Why(experiment, followed, run) })
}

func split(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun, why func(*v1alpha1.PerfRun) string) (own []v1alpha1.PerfRun, foreign []Foreign) {
	own = slices.Grow(own, len(runs))
	for i := range runs {
		run := &runs[i]
		reason := why(run)
		switch {
		case reason == "":
			own = append(own, *run)
		case !isLeaving(run, experiment):
			foreign = append(foreign, Foreign{run.Namespace, run.Name, reason})
		}
	}
	return own, foreign
}

// Deleted is an attempt that was made, and is not there any more.
type Deleted struct {
	Position, Attempt int32
	// Reason as somebody wrote it; empty: nobody did.
	Reason string
}

// String names the attempt, and says why it was deleted.
func (d Deleted) String() string {
	text := fmt.Sprintf("attempt %d at position %d of the plan was deleted", d.Attempt, d.Position)
	if d.Reason == "" {
		return text + " without a reason"
	}
	return text + ": " + d.Reason
}

// DeletedOf an experiment are the attempts that are missing among its runs. Where the
// operator has taken the runs away, by spec.history, or counted none, there are none.
func DeletedOf(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) []Deleted {
	status := &experiment.Status
	if status.History != nil && status.History.Runs != nil {
		return nil
	}
	there := map[[2]int32]bool{}
	for i := range runs {
		there[[2]int32{runs[i].Spec.Position, runs[i].Spec.Attempt}] = true
	}
	var deleted []Deleted
	for i, made := range status.Attempts {
		for attempt := int32(1); attempt <= made; attempt++ {
			if position := int32(i) + 1; !there[[2]int32{position, attempt}] {
				deleted = append(deleted, Deleted{position, attempt, reasonOf(status, position, attempt)})
			}
		}
	}
	return deleted
}

func reasonOf(status *v1alpha1.PerfExperimentStatus, position, attempt int32) string {
	for _, known := range status.Deletions {
		if known.Position == position && known.Attempt == attempt {
			return known.Reason
		}
	}
	return ""
}

// isLeaving: the cluster is about to collect the run. It goes with an earlier
// experiment of this name.
func isLeaving(run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) bool {
	owner := metav1.GetControllerOf(run)
	earlier := owner != nil && owner.Kind == "PerfExperiment" && owner.Name == experiment.Name && owner.UID != experiment.UID
	return run.DeletionTimestamp != nil || earlier
}
