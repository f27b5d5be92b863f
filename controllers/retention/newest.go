// SPDX-License-Identifier: Apache-2.0

package retention

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
)

// excess lists the complete experiments of a namespace whose runs are pruned so that at most a
// number of runs stay. The runs of the last completed experiments stay, all or none of each, and
// always those of the very last one, unless the number is 0. Experiments with their own retention
// do not count.
func excess(all []v1alpha1.PerfExperiment, stay int32) []types.NamespacedName {
	var counted []*v1alpha1.PerfExperiment
	for i := range all {
		status := &all[i].Status
		if status.Settled != "" && status.CompletionTime != nil && status.Runs != nil && !hasOwnRetention(&all[i]) && !IsRetired(&all[i]) {
			counted = append(counted, &all[i])
		}
	}
	slices.SortFunc(counted, func(a, b *v1alpha1.PerfExperiment) int {
		return cmp.Or(b.Status.CompletionTime.Compare(a.Status.CompletionTime.Time), cmp.Compare(a.Name, b.Name))
	})
	var out []types.NamespacedName
	var runs int32
	for i, experiment := range counted {
		runs += experiment.Status.Runs.Done + experiment.Status.Runs.Invalid
		if runs > stay && (i > 0 || stay == 0) {
			out = append(out, client.ObjectKeyFromObject(experiment))
		}
	}
	return out
}

// hasOwnRetention reports whether the experiment sets how long its runs stay.
func hasOwnRetention(experiment *v1alpha1.PerfExperiment) bool {
	return experiment.Spec.RetentionOrDefault().Runs != nil
}

// crowds remember the excess experiments by namespace, until one of its experiments changes:
// otherwise each reconcile would list them all.
type crowds struct {
	mu  sync.Mutex
	out map[string][]types.NamespacedName
}

func (c *crowds) excess(ctx context.Context, reader client.Reader, namespace string, stay int32) ([]types.NamespacedName, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if out, known := c.out[namespace]; known {
		return out, nil
	}
	all := &v1alpha1.PerfExperimentList{}
	if err := reader.List(ctx, all, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing experiments: %w", err)
	}
	if c.out == nil {
		c.out = map[string][]types.NamespacedName{}
	}
	c.out[namespace] = excess(all.Items, stay)
	return c.out[namespace], nil
}

func (c *crowds) forget(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.out, namespace)
}

// isExcess reports whether experiments that were completed later have all the runs that stay.
func (p *Pruner) isExcess(ctx context.Context, experiment *v1alpha1.PerfExperiment) (bool, error) {
	if p.Policy.RunsOf == nil || hasOwnRetention(experiment) {
		return false, nil
	}
	out, err := p.crowds.excess(ctx, p.Cluster.Client, experiment.Namespace, *p.Policy.RunsOf)
	return slices.Contains(out, client.ObjectKeyFromObject(experiment)), err
}

type requests = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Handler enqueues the excess experiments of a namespace when one of its experiments settles, or no
// longer sets how long its runs stay; nil: the number of runs is not bounded.
func (p *Pruner) Handler() handler.EventHandler {
	if p.Policy.RunsOf == nil {
		return nil
	}
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, update event.UpdateEvent, work requests) {
			if !changesExcess(update) {
				return
			}
			namespace := update.ObjectNew.GetNamespace()
			p.crowds.forget(namespace)
			out, err := p.crowds.excess(ctx, p.Cluster.Client, namespace, *p.Policy.RunsOf)
			if err != nil {
				// The cache only fails while it is being stopped.
				return
			}
			for _, experiment := range out {
				work.Add(reconcile.Request{NamespacedName: experiment})
			}
		},
		DeleteFunc: func(_ context.Context, deleted event.DeleteEvent, _ requests) {
			p.crowds.forget(deleted.Object.GetNamespace())
		},
	}
}

func changesExcess(update event.UpdateEvent) bool {
	before, isBefore := update.ObjectOld.(*v1alpha1.PerfExperiment)
	after, isAfter := update.ObjectNew.(*v1alpha1.PerfExperiment)
	return isBefore && isAfter && (before.Status.Settled != after.Status.Settled || IsRetired(before) != IsRetired(after) ||
		!equality.Semantic.DeepEqual(before.Spec.RetentionOrDefault(), after.Spec.RetentionOrDefault()))
}
