// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/load/faults"
)

// switcher makes a replica the primary.
type switcher struct {
	endsByItself
	r *Reconciler
}

var (
	postgresReplicas = v1alpha1.KillFault{Postgres: v1alpha1.PostgresReplica}
	postgresPrimary  = v1alpha1.KillFault{Postgres: v1alpha1.PostgresPrimary}
)

// inject chooses the replica, and then asks for the switchover.
func (w switcher) inject(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) (outcome, error) {
	if len(status.Targets) > 0 {
		return next(), w.switchOver(ctx, s, declared, status)
	}
	replicas, err := w.r.faultPods(ctx, s, postgresReplicas)
	if err != nil {
		return outcome{}, err
	}
	replicas = slices.DeleteFunc(replicas, func(pod corev1.Pod) bool { return !environment.PodReady(pod) })
	if len(replicas) == 0 {
		s.notInjected("fault %q %s, but no replica is ready", declared.Name, declared.Effect())
		return next(), nil
	}
	status.Targets, status.Candidates = faults.Choose(declared, &s.run.Spec, replicas, 1), int32(len(replicas))
	return onceWritten(), nil
}

func (w switcher) switchOver(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	seen := w.r.newLiveScope(s)
	for _, part := range component.All {
		begun, err := part.Switchover(ctx, seen, *declared.Switchover, status.Targets[0].Pod, w.r.Now())
		if err != nil {
			return componentError{part, err}
		}
		if !begun.IsZero() {
			s.recordBegin(declared, status, begun)
			return nil
		}
	}
	s.notInjected("fault %q %s, but the primary is already changing", declared.Name, declared.Effect())
	return nil
}

// observe records when the replica is the primary, and as many replicas as before are ready.
func (w switcher) observe(ctx context.Context, s *scope, _ v1alpha1.Fault, status *v1alpha1.RunFault) error {
	primary, err := w.r.faultPods(ctx, s, postgresPrimary)
	if err == nil && len(primary) == 1 && primary[0].UID == status.Targets[0].UID && environment.PodReady(primary[0]) {
		w.r.awaitReady(ctx, s, status, time.Time{}, postgresReplicas)
		return nil
	}
	s.requeueAt(s.now.Add(faultPollInterval))
	return nil
}
