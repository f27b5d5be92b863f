// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/api/v1alpha1"
)

// crowdOut tells of the complete experiments of a namespace those whose runs are to go where
// no more than a number of runs stay. Those of the experiments that were completed last stay,
// of each all or none, and of the very last in any case, unless none are to stay. Who says how
// long its runs stay is not counted.
func crowdOut(all []v1alpha1.PerfExperiment, stay int32) []types.NamespacedName {
	var counted []*v1alpha1.PerfExperiment
	for i := range all {
		status := &all[i].Status
		if status.Settled != "" && status.CompletionTime != nil && status.Runs != nil && !saysHowLong(&all[i]) && !isRetired(&all[i]) {
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

// saysHowLong: the experiment's runs stay as long as it says.
func saysHowLong(experiment *v1alpha1.PerfExperiment) bool {
	return experiment.Spec.History != nil && experiment.Spec.History.Runs != nil
}

// crowds remember by namespace which experiments are crowded out, until one of them changes:
// else each pass would look at all of its namespace.
type crowds struct {
	mu  sync.Mutex
	out map[string][]types.NamespacedName
}

// of a namespace, as the reader knows it.
func (c *crowds) of(ctx context.Context, reader client.Reader, namespace string, stay int32) ([]types.NamespacedName, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if out, known := c.out[namespace]; known {
		return out, nil
	}
	all := &v1alpha1.PerfExperimentList{}
	if err := reader.List(ctx, all, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the experiments that have runs: %w", err)
	}
	if c.out == nil {
		c.out = map[string][]types.NamespacedName{}
	}
	c.out[namespace] = crowdOut(all.Items, stay)
	return c.out[namespace], nil
}

func (c *crowds) forget(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.out, namespace)
}

// isCrowdedOut: others that were completed later have all the runs that are to stay.
func (r *Reconciler) isCrowdedOut(ctx context.Context, experiment *v1alpha1.PerfExperiment) (bool, error) {
	if r.History.RunsOf == nil || saysHowLong(experiment) {
		return false, nil
	}
	out, err := r.crowds.of(ctx, r.Cluster.Client, experiment.Namespace, *r.History.RunsOf)
	return slices.Contains(out, client.ObjectKeyFromObject(experiment)), err
}

// crowd wakes those whom an experiment crowds out, which settles or no longer says how long
// its runs stay.
func (r *Reconciler) crowd() handler.EventHandler {
	return handler.Funcs{
		UpdateFunc: func(ctx context.Context, update event.UpdateEvent, work requests) {
			if !changesCrowd(update) {
				return
			}
			namespace := update.ObjectNew.GetNamespace()
			r.crowds.forget(namespace)
			out, err := r.crowds.of(ctx, r.Cluster.Client, namespace, *r.History.RunsOf)
			if err != nil {
				// The cache only fails while it is being stopped.
				return
			}
			for _, experiment := range out {
				work.Add(reconcile.Request{NamespacedName: experiment})
			}
		},
		DeleteFunc: func(_ context.Context, deleted event.DeleteEvent, _ requests) {
			r.crowds.forget(deleted.Object.GetNamespace())
		},
	}
}

func changesCrowd(update event.UpdateEvent) bool {
	before, is := update.ObjectOld.(*v1alpha1.PerfExperiment)
	after, are := update.ObjectNew.(*v1alpha1.PerfExperiment)
	return is && are && (before.Status.Settled != after.Status.Settled || isRetired(before) != isRetired(after) ||
		!equality.Semantic.DeepEqual(before.Spec.History, after.Spec.History))
}
