// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/runs/evidence"
)

// Subject is an experiment as one reconcile sees it.
type Subject struct {
	// Experiment has the status that the reconcile writes.
	Experiment *v1alpha1.PerfExperiment
	Now        time.Time
	// Runs of the experiment. Finished runs lack their results, and have the digest Ended.
	Runs  []v1alpha1.PerfRun
	Ended string
	// Plan that the runs follow. SpecChanged means that the spec has another plan.
	Plan        plan.Plan
	SpecChanged bool
	// Question that the runs answer, with this number of complete blocks. Final means that no
	// further run follows.
	Question analysisplan.Question
	Complete int32
	Final    bool
	// Notices are the warnings that no artifact causes, for the report.
	Notices []string
	// Answer of this reconcile; nil: the answer in the status is current.
	Answer *analysis.Answer

	// after is the time until the next reconcile.
	after time.Duration
	known *memory
	// made are the sources of the artifacts that are current.
	made map[v1alpha1.ArtifactName]string
	// full are the runs with their results. locked: this reconcile holds Maker.answering.
	full   []v1alpha1.PerfRun
	locked bool
	// answerDigest is the result of finalAnswer, which encodes the whole status.
	answerDigest string
	// history that is stored in the cluster.
	history *corev1.ConfigMap
	// historyDigest identifies the history that the report shows; empty: it shows none.
	historyDigest string
}

// Requeue asks for another reconcile after this time, or earlier.
func (s *Subject) Requeue(after time.Duration) { s.after = component.MinRequeueAfter(s.after, after) }

// After is the time until the next reconcile; zero: none is needed.
func (s *Subject) After() time.Duration { return s.after }

// isCurrent reports whether this operator has seen the artifact of the source.
func (s *Subject) isCurrent(name v1alpha1.ArtifactName, source string) bool {
	if s.made[name] != source && s.known.current[name] == source {
		s.made[name] = source
		if name == v1alpha1.ArtifactHistory {
			s.historyDigest = s.known.historyDigest
		}
	}
	return s.made[name] == source
}

// stage is the progress of an experiment, as far as its report depends on it.
type stage struct {
	blocks int32
	// ended means that no further block follows.
	ended bool
	// digest of the finished runs and of the question.
	digest string
}

func (s stage) String() string {
	if s.ended {
		return fmt.Sprintf("at the end (complete blocks: %d)", s.blocks)
	}
	return fmt.Sprintf("after block %d", s.blocks)
}

// stage returns the stage, and whether it needs a report: a block is complete, or the
// experiment is complete or stalled.
func (s *Subject) stage() (reached stage, isWorth bool) {
	phase := s.Experiment.Status.Phase
	ended := phase == v1alpha1.ExperimentComplete || phase == v1alpha1.ExperimentStalled
	if s.Plan.Hash == "" || s.SpecChanged || len(s.Runs) == 0 || s.Complete == 0 && !ended {
		return stage{}, false
	}
	var seen []string
	for i := range s.Runs {
		if ended || s.Runs[i].Spec.Block <= s.Complete {
			seen = append(seen, string(s.Runs[i].UID))
		}
	}
	slices.Sort(seen)
	return stage{s.Complete, ended, naming.Hash(s.Plan.Hash, s.Question.Hash(), s.Complete, ended, seen, s.finalAnswer(ended))[:16]}, true
}

// finalAnswer is the digest of the final answer: another version of the operator may word it
// differently, and the report and the manifest must follow.
func (s *Subject) finalAnswer(ended bool) string {
	if !ended {
		return ""
	}
	if s.answerDigest == "" {
		// A status that can't be encoded can't be stored either, and has no digest.
		s.answerDigest, _ = evidence.ResultDigest(&s.Experiment.Status)
	}
	return s.answerDigest
}

// page is the digest of a report: of its stage, the notes and the history.
func (s *Subject) page(reached stage) string {
	notes := s.Experiment.Spec.Notes
	switch {
	case s.historyDigest != "":
		return naming.Hash(reached.digest, notes, s.historyDigest)[:16]
	case len(notes) == 0:
		return reached.digest
	default:
		return naming.Hash(reached.digest, notes)[:16]
	}
}

// EndedRuns returns the runs that no longer change.
func EndedRuns(runs []v1alpha1.PerfRun) []v1alpha1.PerfRun {
	return slices.DeleteFunc(slices.Clone(runs), func(run v1alpha1.PerfRun) bool { return !run.Status.Phase.IsFinal() })
}
