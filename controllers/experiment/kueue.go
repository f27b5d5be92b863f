// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/queue"
)

// +kubebuilder:rbac:groups=kueue.x-k8s.io,resources=workloads,verbs=get;list;create;delete

// kueuePause is the time between two looks at what Kueue has not admitted yet: its
// Workloads are not watched, for the kind may not be there.
const kueuePause = 10 * time.Second

// byKueue reports whether Kueue says when the experiment measures.
func (s *scope) byKueue() bool {
	asked := s.experiment.Spec.Lane
	return asked != nil && asked.Type == v1alpha1.LaneKueue
}

// isAdmitted reports whether Kueue lets the block begin, or go on, whose run is next. It
// has a Workload for each block, so that others have their turn between two.
func (r *Reconciler) isAdmitted(ctx context.Context, s *scope) (bool, error) {
	version, served, err := r.Cluster.Serves(queue.WorkloadKind)
	if err != nil {
		return false, err
	}
	if !served {
		s.unadmitted = "waiting for Kueue, which is not in the cluster: it serves no Workload of kueue.x-k8s.io; install it, or choose another spec.lane"
		s.again(missingSystemPause)
		return false, nil
	}
	wanted := queue.Workload(s.experiment, version, s.decision.Run.Block, s.systems())
	if err := r.withdraw(ctx, s, version, wanted.GetName()); err != nil {
		return false, err
	}
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(wanted.GroupVersionKind())
	err = r.Live.Get(ctx, client.ObjectKeyFromObject(wanted), current)
	switch {
	case apierrors.IsNotFound(err):
		s.awaitKueue("")
		return false, r.Cluster.Create(ctx, wanted)
	case err != nil:
		return false, fmt.Errorf("reading Workload %q: %w", wanted.GetName(), err)
	}
	if err := r.Cluster.CheckOwner(current, wanted); err != nil {
		return false, err
	}
	admitted, says := queue.Admitted(current)
	if !admitted {
		s.awaitKueue(says)
	}
	return admitted, nil
}

func (s *scope) awaitKueue(says string) {
	s.unadmitted = fmt.Sprintf("waiting for Kueue's queue %s", s.experiment.Spec.Lane.Name)
	if says != "" {
		s.unadmitted += ": " + oneLine(says)
	}
	s.again(kueuePause)
}

// withdraw takes away the experiment's Workloads but one. Empty: all.
func (r *Reconciler) withdraw(ctx context.Context, s *scope, version, but string) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(queue.WorkloadKind.WithVersion(version))
	err := r.Live.List(ctx, list, client.InNamespace(s.experiment.Namespace), client.MatchingLabels(naming.Labels(s.experiment.Name)))
	if err != nil {
		return fmt.Errorf("listing the Workloads of Kueue: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].GetName() == but {
			continue
		}
		if err := r.Cluster.Delete(ctx, s.experiment, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

// leaveKueue gives up what Kueue has admitted.
func (r *Reconciler) leaveKueue(ctx context.Context, s *scope) error {
	version, served, err := r.Cluster.Serves(queue.WorkloadKind)
	if err != nil || !served {
		return err
	}
	return r.withdraw(ctx, s, version, "")
}
