// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/view/progress"
)

// ExperimentJSON is the JSON form of an experiment's progress. Fields with the name
// of a status field have its content.
type ExperimentJSON struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Phase is empty until the operator has reconciled the experiment.
	Phase v1alpha1.ExperimentPhase `json:"phase"`
	// Over means that the experiment does not continue without manual action.
	Over      bool               `json:"over"`
	Suspended bool               `json:"suspended"`
	Imported  bool               `json:"imported"`
	Runs      v1alpha1.RunCounts `json:"runs"`
	Blocks    BlocksJSON         `json:"blocks"`
	// SecondsLeft is null while unknown, and in lists.
	SecondsLeft    *int64                  `json:"secondsLeft"`
	StartTime      *metav1.Time            `json:"startTime"`
	CompletionTime *metav1.Time            `json:"completionTime"`
	WaitingFor     string                  `json:"waitingFor"`
	Current        *v1alpha1.CurrentRun    `json:"current"`
	Stopped        *v1alpha1.Stopped       `json:"stopped"`
	Verdict        string                  `json:"verdict"`
	Comparisons    []v1alpha1.Comparison   `json:"comparisons"`
	Changes        []v1alpha1.SeriesChange `json:"changes"`
	InvalidRuns    []v1alpha1.InvalidRun   `json:"invalidRuns"`
	Conditions     []metav1.Condition      `json:"conditions"`
	Warnings       []string                `json:"warnings"`
}

// BlocksJSON are the numbers of blocks.
type BlocksJSON struct {
	Planned  int32 `json:"planned"`
	Complete int32 `json:"complete"`
}

// state of the experiment at a time.
func (s snapshot) state(now time.Time) ExperimentJSON {
	made := newExperimentJSON(&s.experiment)
	if left, known := s.timeLeft(now); known && !made.Over {
		seconds := int64(left.Seconds())
		made.SecondsLeft = &seconds
	}
	return made
}

// newExperimentJSON returns the progress of an experiment without its runs.
func newExperimentJSON(experiment *v1alpha1.PerfExperiment) ExperimentJSON {
	status := &experiment.Status
	made := ExperimentJSON{
		Namespace: experiment.Namespace, Name: experiment.Name, Phase: status.Phase, Over: progress.IsFinished(experiment),
		Suspended: experiment.Spec.Suspend, Imported: provenance.IsImported(experiment), Blocks: countBlocks(experiment),
		StartTime: status.StartTime, CompletionTime: status.CompletionTime, WaitingFor: status.WaitingFor, Current: status.Current, Verdict: status.Verdict,
		Comparisons: primaryComparisons(status.Comparisons), Changes: nonNil(status.Changes), InvalidRuns: nonNil(status.InvalidRuns),
		Conditions: nonNil(status.Conditions), Warnings: nonNil(status.Warnings),
	}
	if status.Runs != nil {
		made.Runs = *status.Runs
	}
	if status.Analysis != nil {
		made.Stopped = status.Analysis.Stopped
	}
	return made
}

// countBlocks counts the blocks: each is a run of every arm under every
// scenario.
func countBlocks(experiment *v1alpha1.PerfExperiment) BlocksJSON {
	made, status := BlocksJSON{Planned: experiment.Spec.Design.Blocks}, &experiment.Status
	if runs := len(status.Arms) * len(experiment.Spec.Scenarios); status.Runs != nil && runs > 0 {
		made.Planned = status.Runs.Planned / int32(runs)
	}
	if status.Analysis != nil {
		made.Complete = status.Analysis.Blocks
	}
	return made
}

// primaryComparisons returns only the primary comparisons.
func primaryComparisons(all []v1alpha1.Comparison) []v1alpha1.Comparison {
	found := []v1alpha1.Comparison{}
	for _, one := range all {
		if one.Primary {
			found = append(found, one)
		}
	}
	return found
}

// nonNil returns an empty list for nil, which is [] in JSON.
func nonNil[T any](all []T) []T { return append([]T{}, all...) }
