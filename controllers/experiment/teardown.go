// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/kube"
)

// teardownPause is the time between two checks of an environment that is being deleted.
const teardownPause = 2 * time.Second

func (r *Reconciler) tearDown(ctx context.Context, s *scope, seen kube.Cluster) error {
	teardown := component.Teardown{Tools: r.Tools, Experiment: s.Experiment, Now: s.Now}
	teardown.Cluster = seen
	gone, err := teardown.TearDown(ctx)
	if err != nil {
		return err
	}
	s.teardown.obstacle = teardown.Leftover
	s.teardown.isActive = !gone
	if !gone {
		s.Requeue(teardownPause)
	}
	return nil
}

// remove deletes the environment of a deleted experiment. It deletes runs first: an active run
// would rebuild the environment.
func (r *Reconciler) remove(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(s.Experiment, v1alpha1.Finalizer) {
		return ctrl.Result{}, nil
	}
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	noteLedgers(s)
	if len(s.Experiment.Status.TopicLedgers) > len(before.Status.TopicLedgers) {
		// Only its runs show whether a ledger is the operator's.
		s.teardown.isActive = true
		s.Requeue(teardownPause)
		return r.concludeWith(ctx, before, s, nil)
	}
	for i := range s.Runs {
		if err := r.Cluster.Delete(ctx, s.Experiment, &s.Runs[i]); err != nil {
			s.teardown.isActive = true
			return r.concludeWith(ctx, before, s, err)
		}
	}
	stepErr := s.refused(r.tearDown(ctx, s, r.Cluster))
	if stepErr != nil || s.refusal != nil || s.teardown.isActive || len(s.Runs) > 0 {
		if s.After() == 0 {
			s.Requeue(teardownPause)
		}
		s.teardown.isActive = true
		reportExperiment(s)
		return r.conclude(ctx, before, s, stepErr)
	}
	if err := r.queue.Leave(ctx, s.waiter()); err != nil {
		return r.concludeWith(ctx, before, s, err)
	}
	controllerutil.RemoveFinalizer(s.Experiment, v1alpha1.Finalizer)
	if err := r.Cluster.Patch(ctx, s.Experiment, before); client.IgnoreNotFound(err) != nil {
		s.Experiment = before.DeepCopy()
		s.teardown.isActive = true
		return r.concludeWith(ctx, before, s, err)
	}
	return ctrl.Result{}, nil
}
