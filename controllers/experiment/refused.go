// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/queue"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/planning/schedule"
)

// giveUp writes the previous status, with the refusal as its fault, in place of a status that the
// API server refuses, and leaves the queue: an experiment that cannot report its progress must not
// block others.
func (r *Reconciler) giveUp(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope, refused environment.Readiness) error {
	s.Experiment, s.unwritten = before.DeepCopy(), refused.Message
	s.place, s.refusal, s.teardown, s.decision = queue.Place{}, nil, teardown{}, schedule.Decision{}
	status := &s.Experiment.Status
	status.Phase, status.WaitingFor, status.Lane = experimentPhase(s), component.TruncateMessage(waitingFor(s)), nil
	setExperimentConditions(s)
	if err := component.PatchStatus(ctx, r.Cluster, "experiment", before, s.Experiment); err != nil {
		return err
	}
	return r.queue.Leave(ctx, s.waiter())
}

// refusedStatus is why the API server has refused the status of this generation; empty if it has
// not. A change of the spec, such as spec.suspend, triggers a retry.
func refusedStatus(experiment *v1alpha1.PerfExperiment) string {
	stalled := meta.FindStatusCondition(experiment.Status.Conditions, v1alpha1.ConditionStalled)
	if stalled == nil || stalled.Status != metav1.ConditionTrue || stalled.Reason != v1alpha1.ReasonStatusRefused || stalled.ObservedGeneration != experiment.Generation {
		return ""
	}
	return stalled.Message
}
