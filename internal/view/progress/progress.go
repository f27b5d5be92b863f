// SPDX-License-Identifier: Apache-2.0

// Package progress says how far an experiment is, for all that show one that is
// on: what is wrong with it, what it does, when it will end. It is pure.
package progress

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// CatchUp takes what the current run does from the run, which alone tells how far
// its loads are.
func CatchUp(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) {
	current := experiment.Status.Current
	if run := Current(experiment, runs); run != nil {
		current.Phase, current.Message = run.Status.Phase, run.Status.Message
	}
}

// Current is the run that is on; nil: none is, or it was not seen yet.
func Current(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) *v1alpha1.PerfRun {
	current := experiment.Status.Current
	if current == nil {
		return nil
	}
	at := slices.IndexFunc(runs, func(run v1alpha1.PerfRun) bool { return run.Name == current.Run })
	if at < 0 {
		return nil
	}
	return &runs[at]
}

// IsOver tells whether nothing more happens by itself.
func IsOver(experiment *v1alpha1.PerfExperiment) bool {
	phase := experiment.Status.Phase
	return phase == v1alpha1.ExperimentComplete || phase == v1alpha1.ExperimentStalled
}

// Phase in words, and where the experiment is from if it is not from here.
func Phase(experiment *v1alpha1.PerfExperiment) string {
	phase, from := string(experiment.Status.Phase), provenance.Of(experiment)
	switch {
	case !provenance.IsImported(experiment):
		return cmp.Or(phase, "not seen by the operator yet; is it running? (kubectl perflab doctor)")
	case provenance.Elsewhere(experiment) != "":
		return fmt.Sprintf("%s, %s", cmp.Or(phase, "no status"), provenance.Elsewhere(experiment))
	case phase == "" || IsOver(experiment):
		return fmt.Sprintf("%s, imported from %s/%s", cmp.Or(phase, "no status"), from.Namespace, from.Name)
	default:
		return fmt.Sprintf("%s when it was exported from %s/%s; nothing of it goes on here", phase, from.Namespace, from.Name)
	}
}

// Doing is what the current run does.
func Doing(current *v1alpha1.CurrentRun) string {
	if current.Message == "" && (current.Phase == "" || current.Phase == v1alpha1.RunPending) {
		return "about to begin"
	}
	return cmp.Or(current.Message, string(current.Phase))
}

// Waits says what an experiment without a run waits for. A run says that itself.
func Waits(status *v1alpha1.PerfExperimentStatus) string {
	if status.Current != nil || status.WaitingFor == "" {
		return ""
	}
	return status.WaitingFor
}

// Troubles are the conditions that say that something is not as it should be,
// beside what the current run says itself.
func Troubles(status *v1alpha1.PerfExperimentStatus) []metav1.Condition {
	var found []metav1.Condition
	for _, condition := range status.Conditions {
		bad := condition.Status == metav1.ConditionFalse
		switch condition.Type {
		case v1alpha1.ConditionStalled:
			bad = condition.Status == metav1.ConditionTrue
		case v1alpha1.ConditionReady, v1alpha1.ConditionComplete, v1alpha1.ConditionReconciling:
			bad = false
		}
		if bad && (status.Current == nil || condition.Message != status.Current.Message) {
			found = append(found, condition)
		}
	}
	return found
}

// Left is how long the runs that are left will take if they take as long as those
// before. It says false before the first of them.
func Left(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun, now time.Time) (time.Duration, bool) {
	counts := experiment.Status.Runs
	if counts == nil {
		return 0, false
	}
	var total time.Duration
	done := 0
	var running time.Duration
	for i := range runs {
		timings := runs[i].Status.Timings
		switch {
		case timings.ProvisionStart == nil:
		case runs[i].Status.Phase == v1alpha1.RunSucceeded && timings.Finish != nil:
			total += timings.Finish.Sub(timings.ProvisionStart.Time)
			done++
		case !runs[i].Status.Phase.IsFinal():
			running = now.Sub(timings.ProvisionStart.Time)
		}
	}
	if done == 0 {
		return 0, false
	}
	left := total/time.Duration(done)*time.Duration(counts.Planned-counts.Done) - running
	return max(left, 0).Round(10 * time.Second), true
}
