// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
)

// restarter lets a component's controller replace its pods.
type restarter struct{ r *Reconciler }

// inject marks the component's object. The mark has the start time, so that the next reconcile
// finds it even if the status could not be written.
func (i restarter) inject(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) (outcome, error) {
	pods := int32(0)
	for _, kill := range declared.Restart.Replaces() {
		found, err := i.r.faultPods(ctx, s, kill)
		if err != nil {
			return outcome{}, err
		}
		pods += int32(len(found))
	}
	seen, wanted := i.r.newLiveScope(s), component.RestartMark{Fault: s.run.Name + "/" + declared.Name, At: i.r.Now()}
	for _, part := range component.All {
		mark, err := part.Restart(ctx, seen, *declared.Restart, wanted)
		if err != nil {
			return outcome{}, componentError{part, err}
		}
		if mark.Fault != "" {
			status.Candidates = pods
			s.recordBegin(declared, status, mark.At)
			return next(), nil
		}
	}
	s.notInjected("fault %q %s, but there is no such component", declared.Name, declared.Effect())
	return next(), nil
}

// observe records when all pods have been replaced.
func (i restarter) observe(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	i.r.awaitReady(ctx, s, status, status.Begin.Time, declared.Restart.Replaces()...)
	return nil
}

// remove takes back what only the restart needed.
func (i restarter) remove(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	if status.Begin == nil || status.Gone {
		return nil
	}
	seen := i.r.newLiveScope(s)
	for _, part := range component.All {
		if err := part.EndRestart(ctx, seen, *declared.Restart); err != nil {
			return componentError{part, err}
		}
	}
	status.Gone = true
	return nil
}
