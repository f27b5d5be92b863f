// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
)

// partitioner adds partitions to topics.
type partitioner struct{ r *Reconciler }

// inject records the attempt, and then adds the partitions, as soon as the brokers respond. If
// topics have them already, it is unknown since when: the run is invalid.
func (p partitioner) inject(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) (outcome, error) {
	if !status.Attempted {
		status.Attempted = true
		return onceWritten(), nil
	}
	all, err := component.Kafka.RaisePartitions(ctx, p.r.newLiveScope(s), *declared.Partitions)
	switch {
	case err != nil:
		log.FromContext(ctx).Info("Failed to add partitions", "fault", declared.Name, "error", err.Error())
		s.requeueAt(s.now.Add(faultPollInterval))
	case !all:
		s.notInjected("fault %q: topics already had %d partitions, or were missing: the operator stopped, or Kafka failed, while they were added", declared.Name, declared.Partitions.Count)
	default:
		s.recordBegin(declared, status, p.r.Now())
	}
	return next(), nil
}

// observe records when brokers lead all partitions.
func (p partitioner) observe(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	if status.Ready != nil {
		s.requeueAt(status.End.Time)
		return nil
	}
	s.requeueAt(s.now.Add(faultPollInterval))
	// Brokers that don't respond are not ready.
	if ready, err := component.Kafka.ArePartitionsLed(ctx, p.r.newLiveScope(s), *declared.Partitions); err == nil && ready {
		status.Ready = &metav1.MicroTime{Time: s.now}
	}
	return nil
}

// remove deletes the topics once the run has ended, so that the next run creates them as declared.
func (p partitioner) remove(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	if !status.Attempted || status.Gone || s.status().Timings.Finish == nil {
		return nil
	}
	left, err := component.Kafka.DeleteGroup(ctx, p.r.newLiveScope(s), declared.Partitions.Group)
	if err != nil {
		log.FromContext(ctx).Info("Failed to delete topics", "fault", declared.Name, "error", err.Error())
	}
	status.Gone = err == nil && left == 0
	return nil
}
