// SPDX-License-Identifier: Apache-2.0

// Package runfilter selects the runs that belong to an experiment. Any user with the right to
// create PerfRuns can create one that resembles a measured run. A run that does not follow
// from the experiment is never counted, compared or reported. The package is pure.
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

// Rejected is a run that names an experiment, but is not one of its runs.
type Rejected struct {
	Namespace, Name string
	// Why it was rejected, as the end of a sentence.
	Why string
}

// LeftOut starts the message about a rejected run.
const LeftOut = "left out: PerfRun"

// String describes the omitted run, with advice.
func (f Rejected) String() string {
	return fmt.Sprintf("%s %q %s; it is excluded from all results and reports: delete it if you don't need it (kubectl delete perfrun %s -n %s)",
		LeftOut, f.Name, f.Why, f.Name, f.Namespace)
}

// Plan that the runs of an experiment must follow.
type Plan struct {
	// Hash of the plan; empty: not known yet.
	Hash string
	// spec that was planned; nil: unknown, because it has changed since.
	spec *v1alpha1.PerfExperimentSpec
}

// NewPlan returns the plan of this spec, whose runs have the hash.
func NewPlan(spec *v1alpha1.PerfExperimentSpec, hash string) Plan {
	return Plan{Hash: hash, spec: spec}
}

// Recorded returns the plan in an experiment's status. For an imported experiment, which was
// planned elsewhere, it has only the hash.
func Recorded(experiment *v1alpha1.PerfExperiment) Plan {
	status := &experiment.Status
	stalled := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionStalled)
	changed := stalled != nil && stalled.Reason == v1alpha1.ReasonSpecChanged
	if changed || provenance.IsImported(experiment) {
		return Plan{Hash: status.PlanHash}
	}
	return NewPlan(&experiment.Spec, status.PlanHash)
}

// has reports whether the plan has a position for the run. The system does not
// matter: positions depend on the names of arms and scenarios.
func (p Plan) has(run *v1alpha1.PerfRunSpec) bool {
	_, arm := arms.Named(arms.All(p.spec, v1alpha1.System{}), run.Arm)
	scenario := slices.ContainsFunc(p.spec.Scenarios, func(known v1alpha1.Scenario) bool { return known.Name == run.Scenario.Name })
	return arm && scenario && run.Block >= 1 && run.Block <= p.spec.DesignOrDefault().MostBlocks()
}

// RejectionReason describes why a run does not belong to the experiment, as the end of a
// sentence; empty if it does.
func RejectionReason(experiment *v1alpha1.PerfExperiment, followed Plan, run *v1alpha1.PerfRun) string {
	if why := ownershipProblem(experiment, run); why != "" {
		return why
	}
	return followed.mismatch(experiment, run)
}

func ownershipProblem(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun) string {
	switch {
	case run.Spec.Experiment != experiment.Name:
		return fmt.Sprintf("has the label of this experiment, but its spec names %q", run.Spec.Experiment)
	case !metav1.IsControlledBy(run, experiment):
		return "names this experiment, but is not owned by it"
	case provenance.IsImported(run) && !provenance.IsImported(experiment):
		return "was imported, but this experiment is measured here"
	default:
		return ""
	}
}

func (p Plan) mismatch(experiment *v1alpha1.PerfExperiment, run *v1alpha1.PerfRun) string {
	spec := &run.Spec
	if p.Hash != "" && spec.PlanHash != p.Hash {
		return fmt.Sprintf("follows plan %q, but this experiment follows plan %q", spec.PlanHash, p.Hash)
	}
	if p.spec == nil {
		return ""
	}
	// Each deleted attempt may be replaced by another one.
	attempts := max(p.spec.Validity.MaxAttempts, experiment.Status.Attempts.At(spec.Position)+1)
	switch {
	case !p.has(spec):
		return fmt.Sprintf("is at a position that the plan does not have (block %d, arm %q, scenario %q)", spec.Block, spec.Arm, spec.Scenario.Name)
	case spec.Attempt < 1 || spec.Attempt > attempts:
		return fmt.Sprintf("is attempt %d at its position, which may have %d", spec.Attempt, attempts)
	default:
		return ""
	}
}

// Owned returns the runs that the experiment owns, whatever plan they follow, and
// those that only name it.
func Owned(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) (own []v1alpha1.PerfRun, foreign []Rejected) {
	return split(experiment, runs, func(run *v1alpha1.PerfRun) string { return ownershipProblem(experiment, run) })
}

// Following returns the runs that follow a plan, and those that don't.
func Following(experiment *v1alpha1.PerfExperiment, followed Plan, runs []v1alpha1.PerfRun) (own []v1alpha1.PerfRun, foreign []Rejected) {
	return split(experiment, runs, func(run *v1alpha1.PerfRun) string { return RejectionReason(experiment, followed, run) })
}

func split(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun, why func(*v1alpha1.PerfRun) string) (own []v1alpha1.PerfRun, foreign []Rejected) {
	own = slices.Grow(own, len(runs))
	for i := range runs {
		run := &runs[i]
		reason := why(run)
		switch {
		case reason == "":
			own = append(own, *run)
		case !isBeingDeleted(run, experiment):
			foreign = append(foreign, Rejected{run.Namespace, run.Name, reason})
		}
	}
	return own, foreign
}

// Deleted is an attempt whose run no longer exists.
type Deleted struct {
	Position, Attempt int32
	// Reason given by the user who deleted the run; empty if there is none.
	Reason string
}

// String names the attempt and the reason for its deletion.
func (d Deleted) String() string {
	text := fmt.Sprintf("attempt %d at position %d of the plan was deleted", d.Attempt, d.Position)
	if d.Reason == "" {
		return text + " without a reason"
	}
	return text + ": " + d.Reason
}

// FindDeleted returns the attempts of an experiment without a run. It returns none if the
// operator has pruned runs by spec.retention, or has counted no attempts.
func FindDeleted(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) []Deleted {
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
				deleted = append(deleted, Deleted{position, attempt, invalidReason(status, position, attempt)})
			}
		}
	}
	return deleted
}

func invalidReason(status *v1alpha1.PerfExperimentStatus, position, attempt int32) string {
	for _, known := range status.Deletions {
		if known.Position == position && known.Attempt == attempt {
			return known.Reason
		}
	}
	return ""
}

// isBeingDeleted reports whether the run is terminating, or will be deleted with its owner, an
// earlier experiment of this name.
func isBeingDeleted(run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) bool {
	owner := metav1.GetControllerOf(run)
	earlier := owner != nil && owner.Kind == "PerfExperiment" && owner.Name == experiment.Name && owner.UID != experiment.UID
	return run.DeletionTimestamp != nil || earlier
}
