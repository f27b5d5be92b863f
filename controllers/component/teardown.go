// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
)

// Teardown is what components see when an experiment's environment is taken
// down.
type Teardown struct {
	Tools
	Experiment *v1alpha1.PerfExperiment
	Now        time.Time
	// Leftover says what is hard to take down, and why.
	Leftover string
	// dependentsDeleted: of the components that came up later nothing is left.
	dependentsDeleted bool
}

// TearDown takes the environment of an experiment down and says true when all
// of it is gone.
func (d *Teardown) TearDown(ctx context.Context) (bool, error) {
	d.dependentsDeleted = true
	for _, component := range slices.Backward(All) {
		departure, err := component.TearDown(ctx, d)
		if err != nil {
			return false, fmt.Errorf("taking down %s: %w", component.Describe().Name, err)
		}
		if departure == TeardownBlocking {
			return false, nil
		}
		d.dependentsDeleted = d.dependentsDeleted && departure == TeardownComplete
	}
	return d.dependentsDeleted, nil
}

// TearDown deletes the objects of the part that outlive a run.
func (p Base) TearDown(ctx context.Context, down *Teardown) (TeardownState, error) {
	if p.kinds == nil {
		return TeardownComplete, nil
	}
	kinds, err := p.kinds(down.Cluster)
	if err != nil {
		return TeardownPending, err
	}
	gone, err := Delete(ctx, down.Cluster, down.Experiment, naming.ComponentLabels(down.Experiment.Name, p.labels[0]), kinds...)
	if err != nil || !gone {
		return TeardownPending, err
	}
	return TeardownComplete, nil
}

// tearDownOperated takes away what another operator has made pods for. Those of an object
// that somebody else made under such a name stay.
func (d *Teardown) tearDownOperated(ctx context.Context, part Base, kind schema.GroupVersionKind, podLabel string, isOurs func(experiment, name string) bool) (TeardownState, error) {
	departure, err := part.TearDown(ctx, d)
	if err != nil || departure != TeardownComplete {
		return departure, err
	}
	pods, err := d.Cluster.Pods(ctx, d.Experiment.Namespace, client.HasLabels{podLabel})
	if err != nil {
		return TeardownPending, err
	}
	looked := map[string]bool{}
	for i := range pods {
		name := pods[i].Labels[podLabel]
		if looked[name] || !isOurs(d.Experiment.Name, name) {
			continue
		}
		looked[name] = true
		if foreign, err := d.isThirdParty(ctx, kind, name); err != nil || !foreign {
			return TeardownPending, err
		}
	}
	return TeardownComplete, nil
}

// isThirdParty reports whether there is such an object, which the experiment did not make.
func (d *Teardown) isThirdParty(ctx context.Context, kind schema.GroupVersionKind, name string) (bool, error) {
	object, err := d.Cluster.Get(ctx, kind, client.ObjectKey{Namespace: d.Experiment.Namespace, Name: name})
	return object != nil && !metav1.IsControlledBy(object, d.Experiment), err
}

// Delete deletes what the owner has of these kinds and labels, and says true when
// there is nothing of it left.
func Delete(ctx context.Context, cluster kube.Cluster, owner client.Object, labels map[string]string, kinds ...schema.GroupVersionKind) (bool, error) {
	gone := true
	for _, kind := range kinds {
		objects, err := cluster.ListOwned(ctx, owner, kind, labels)
		if err != nil {
			return false, err
		}
		for i := range objects {
			gone = false
			if err := cluster.Delete(ctx, owner, &objects[i]); err != nil {
				return false, err
			}
		}
	}
	return gone, nil
}
