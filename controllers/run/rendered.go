// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/rendering"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// recordRendered records digests of the rendered objects, and warns if they differ from the
// previous run of the same arm: an operator that was upgraded in between may render them
// differently.
func (r *Reconciler) recordRendered(ctx context.Context, s *scope, seen *component.Scope) error {
	rendered, err := seen.RenderedDigests(ctx)
	if err != nil {
		return err
	}
	loads, err := r.renderedLoads(s.run)
	if err != nil {
		return err
	}
	s.evidence().Rendered = append(rendered, loads...)
	before, err := r.predecessor(ctx, s)
	if err != nil {
		return err
	}
	if change := rendering.Change(s.run, before); change != nil {
		s.evidence().RenderedChange = change
		s.warn(change.Message)
	}
	return nil
}

// predecessor returns the run whose objects must be the same, from the API server, or nil if
// there is none.
func (r *Reconciler) predecessor(ctx context.Context, s *scope) (*v1alpha1.PerfRun, error) {
	runs, err := kubecache.ListRuns(ctx, r.Cluster.Client, s.run.Namespace, s.experiment.Name)
	if err != nil {
		return nil, err
	}
	own, _ := runfilter.Owned(s.experiment, runs)
	summary := rendering.Predecessor(s.run, own)
	if summary == nil {
		return nil, nil
	}
	before := &v1alpha1.PerfRun{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(summary), before); err != nil {
		return nil, fmt.Errorf("reading the earlier run %q of the same arm: %w", summary.Name, err)
	}
	return before, nil
}

// renderedLoads are digests of the TestRuns, without what differs from run to run.
func (r *Reconciler) renderedLoads(of *v1alpha1.PerfRun) ([]v1alpha1.RenderedDigest, error) {
	nameless := of.DeepCopy()
	nameless.Name, nameless.UID, nameless.Spec.Seed, nameless.Spec.Levels = "", "", 0, nil
	var rendered []v1alpha1.RenderedDigest
	for _, wanted := range of.Spec.Scenario.Loads {
		testRun, err := load.TestRun(nameless, wanted, component.TargetURL(of), r.Settings)
		if err != nil {
			return nil, err
		}
		rendered = append(rendered, rendering.Digest(fmt.Sprintf("load %q", wanted.Name), []environment.Intent{testRun}))
	}
	return rendered, nil
}
