// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/queue"
	"perflab.dev/perflab/internal/text/prose"
)

// +kubebuilder:rbac:groups=kueue.x-k8s.io,resources=workloads,verbs=get;list;create;delete

// kueuePause is the time between two reads of a Workload that Kueue has not admitted. Workloads are
// not watched: their kind may not exist.
const kueuePause = 10 * time.Second

// byKueue reports whether Kueue decides when the experiment runs.
func (w Waiter) byKueue() bool {
	lane := w.Experiment.Spec.Lane
	return lane != nil && lane.Type == v1alpha1.LaneKueue
}

// isAdmitted reports whether Kueue admits the block of the next run. Each block has a Workload, so
// that other experiments can run between two blocks.
func (q Queue) isAdmitted(ctx context.Context, w Waiter, place *Place) (bool, error) {
	version, served, err := q.Cluster.Serves(queue.WorkloadKind)
	if err != nil {
		return false, err
	}
	if !served {
		place.Kueue = "waiting for Kueue: the cluster does not serve Workloads of kueue.x-k8s.io; install Kueue, or set another spec.lane"
		place.requeue(kueuePause)
		return false, nil
	}
	wanted := queue.Workload(w.Experiment, version, w.Block, w.systems())
	if err := q.withdraw(ctx, w, version, wanted.GetName()); err != nil {
		return false, err
	}
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(wanted.GroupVersionKind())
	err = q.Live.Get(ctx, client.ObjectKeyFromObject(wanted), current)
	switch {
	case apierrors.IsNotFound(err):
		w.awaitKueue(place, "")
		return false, q.Cluster.Create(ctx, wanted)
	case err != nil:
		return false, fmt.Errorf("reading Workload %q: %w", wanted.GetName(), err)
	}
	if err := q.Cluster.CheckOwner(current, wanted); err != nil {
		return false, err
	}
	admitted, message := queue.Admitted(current)
	if !admitted {
		w.awaitKueue(place, message)
	}
	return admitted, nil
}

// maxMessage bounds Kueue's message in bytes.
const maxMessage = 500

func (w Waiter) awaitKueue(place *Place, message string) {
	place.Kueue = fmt.Sprintf("waiting for Kueue's queue %s", w.Experiment.Spec.Lane.Name)
	if message != "" {
		place.Kueue += ": " + prose.Cut(strings.Join(strings.Fields(message), " "), maxMessage)
	}
	place.requeue(kueuePause)
}

// withdraw deletes the experiment's Workloads except one; empty: all.
func (q Queue) withdraw(ctx context.Context, w Waiter, version, but string) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(queue.WorkloadKind.WithVersion(version))
	err := q.Live.List(ctx, list, client.InNamespace(w.Experiment.Namespace), client.MatchingLabels(naming.Labels(w.Experiment.Name)))
	if err != nil {
		return fmt.Errorf("listing the Workloads of Kueue: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].GetName() == but {
			continue
		}
		if err := q.Cluster.Delete(ctx, w.Experiment, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// leaveKueue releases the experiment's quota in Kueue.
func (q Queue) leaveKueue(ctx context.Context, w Waiter) error {
	version, served, err := q.Cluster.Serves(queue.WorkloadKind)
	if err != nil || !served {
		return err
	}
	return q.withdraw(ctx, w, version, "")
}
