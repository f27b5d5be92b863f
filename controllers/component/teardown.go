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

// Teardown is what components use while an experiment's environment is deleted.
type Teardown struct {
	Tools
	Experiment *v1alpha1.PerfExperiment
	Now        time.Time
	// Leftover is what blocks the deletion, and why.
	Leftover string
	// dependentsDeleted is true if the components that were provisioned later are deleted.
	dependentsDeleted bool
}

// TearDown deletes the environment of an experiment and reports whether nothing is left.
func (d *Teardown) TearDown(ctx context.Context) (bool, error) {
	d.dependentsDeleted = true
	for _, component := range slices.Backward(All) {
		state, err := component.TearDown(ctx, d)
		if err != nil {
			return false, fmt.Errorf("tearing down %s: %w", component.Describe().Name, err)
		}
		if state == TeardownBlocking {
			return false, nil
		}
		d.dependentsDeleted = d.dependentsDeleted && state == TeardownComplete
	}
	return d.dependentsDeleted, nil
}

// TearDown deletes the component's objects that outlive a run.
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

// tearDownOperated deletes objects of a third-party operator and waits for the pods that it
// created. It does not wait for pods of someone else's object of that name.
func (d *Teardown) tearDownOperated(ctx context.Context, part Base, kind schema.GroupVersionKind, podLabel string, isOurs func(experiment, name string) bool) (TeardownState, error) {
	state, err := part.TearDown(ctx, d)
	if err != nil || state != TeardownComplete {
		return state, err
	}
	pods, err := d.Cluster.Pods(ctx, d.Experiment.Namespace, client.HasLabels{podLabel})
	if err != nil {
		return TeardownPending, err
	}
	seen := map[string]bool{}
	for i := range pods {
		name := pods[i].Labels[podLabel]
		if seen[name] || !isOurs(d.Experiment.Name, name) {
			continue
		}
		seen[name] = true
		if thirdParty, err := d.isThirdParty(ctx, kind, name); err != nil || !thirdParty {
			return TeardownPending, err
		}
	}
	return TeardownComplete, nil
}

// isThirdParty reports whether there is such an object that the experiment did not create.
func (d *Teardown) isThirdParty(ctx context.Context, kind schema.GroupVersionKind, name string) (bool, error) {
	object, err := d.Cluster.Get(ctx, kind, client.ObjectKey{Namespace: d.Experiment.Namespace, Name: name})
	return object != nil && !metav1.IsControlledBy(object, d.Experiment), err
}

// Delete deletes the owner's objects of these kinds and labels, and reports whether none is
// left.
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
