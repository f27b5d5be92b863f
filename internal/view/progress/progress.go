// SPDX-License-Identifier: Apache-2.0

// Package progress describes the progress of an experiment: its problems, its activity and its
// expected end. It is pure.
package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// CopyRunProgress copies phase and message of the current run into the experiment's status,
// because only the run has the progress of its loads.
func CopyRunProgress(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) {
	current := experiment.Status.Current
	if run := CurrentRun(experiment, runs); run != nil {
		current.Phase, current.Message = run.Status.Phase, run.Status.Message
	}
}

// CurrentRun returns the current run, or nil if there is none or it was not observed yet.
func CurrentRun(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun) *v1alpha1.PerfRun {
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

// LoadStates describes what each load of a run does, without times and counts; empty unless the
// loads are running.
func LoadStates(run *v1alpha1.PerfRun) string {
	complete := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionLoadsComplete)
	if run.Status.Phase != v1alpha1.RunLoading || complete == nil || complete.Reason != v1alpha1.ReasonLoading {
		return ""
	}
	states := make([]string, 0, len(run.Spec.Scenario.Loads))
	for _, load := range run.Spec.Scenario.Loads {
		states = append(states, load.Name+": "+loadState(run.Status.Loads, load.Name))
	}
	return strings.Join(states, "; ")
}

func loadState(statuses []v1alpha1.LoadStatus, name string) string {
	at := slices.IndexFunc(statuses, func(status v1alpha1.LoadStatus) bool { return status.Name == name })
	switch {
	case at < 0 || statuses[at].CreateTime == nil:
		return "not started"
	case statuses[at].StartTime == nil:
		return "starting"
	case statuses[at].FinishTime == nil:
		return "running"
	default:
		return "ended"
	}
}

// IsFinished reports whether nothing more happens without manual action.
func IsFinished(experiment *v1alpha1.PerfExperiment) bool {
	phase := experiment.Status.Phase
	return phase == v1alpha1.ExperimentComplete || phase == v1alpha1.ExperimentStalled
}

// Phase describes the phase, and the origin of an imported experiment.
func Phase(experiment *v1alpha1.PerfExperiment) string {
	phase, from := string(experiment.Status.Phase), provenance.OriginOf(experiment)
	switch {
	case !provenance.IsImported(experiment):
		return cmp.Or(phase, "not reconciled yet; is the operator running? (kubectl perflab doctor)")
	case provenance.Elsewhere(experiment) != "":
		return fmt.Sprintf("%s, %s", cmp.Or(phase, "no status"), provenance.Elsewhere(experiment))
	case phase == "" || IsFinished(experiment):
		return fmt.Sprintf("%s, imported from %s/%s", cmp.Or(phase, "no status"), from.Namespace, from.Name)
	default:
		return fmt.Sprintf("%s when exported from %s/%s; not running here", phase, from.Namespace, from.Name)
	}
}

// Activity describes what the current run does.
func Activity(current *v1alpha1.CurrentRun) string {
	if current.Message == "" && (current.Phase == "" || current.Phase == v1alpha1.RunPending) {
		return "starting"
	}
	return cmp.Or(current.Message, string(current.Phase))
}

// WaitMessage is what an experiment without a run waits for. A run has its own message.
func WaitMessage(status *v1alpha1.PerfExperimentStatus) string {
	if status.Current != nil || status.WaitingFor == "" {
		return ""
	}
	return status.WaitingFor
}

// Problems are the conditions that report a problem, except the message of the current run.
func Problems(status *v1alpha1.PerfExperimentStatus) []metav1.Condition {
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

// Remaining estimates the duration of the remaining runs from that of the finished ones. It
// returns false before the first run finished.
func Remaining(experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun, now time.Time) (time.Duration, bool) {
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
