// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/kube"
)

// ForeignWatches watches the kinds of other operators. They may be installed
// after us, so a kind is watched from the first pass that finds it served.
type ForeignWatches struct {
	Cluster kube.Cluster
	Cache   cache.Cache
	// Pods wake as well.
	Pods component.PodCaches
	// Controller and Handler are set when the controller is built.
	Controller controller.Controller
	Handler    handler.EventHandler

	mutex   sync.Mutex
	watched map[schema.GroupKind]bool
}

// Start fills the cache with what passes read, all kinds at once: a pass that
// is the first to read a kind waits until it is filled, and one kind after the other
// that is a second. Nobody waits here: a kind that can't be listed is in the way of
// those alone who read it.
func (w *ForeignWatches) Start(ctx context.Context) error {
	kinds, err := w.ensure()
	built, failed := component.Kinds(w.Cluster)
	err = errors.Join(err, failed)
	for _, kind := range slices.Concat(kinds, built, provisioned) {
		_, failed := w.Cache.GetInformer(ctx, component.Watched(kind), cache.BlockUntilSynced(false))
		err = errors.Join(err, failed)
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("Kinds are read when they are needed", "error", err.Error())
	}
	return nil
}

// served are the kinds of other operators that the cluster has now, but for those that are
// known, and why it can't be told of the rest.
func (w *ForeignWatches) served(known map[schema.GroupKind]bool) (kinds []schema.GroupVersionKind, err error) {
	for _, kind := range contract.ThirdPartyKinds() {
		if known[kind] {
			continue
		}
		version, served, failed := w.Cluster.Serves(kind)
		err = errors.Join(err, failed)
		if served {
			kinds = append(kinds, kind.WithVersion(version))
		}
	}
	return kinds, err
}

// NeedLeaderElection says no: an operator that waits to take over is ready to.
func (*ForeignWatches) NeedLeaderElection() bool { return false }

// provisioned are further kinds of Kubernetes' own that are read for a run and wake none.
var provisioned = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
	rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
}

// Ensure starts the watches that are possible and not on yet.
func (w *ForeignWatches) Ensure(context.Context) error {
	_, err := w.ensure()
	return err
}

// ensure says which it has started.
func (w *ForeignWatches) ensure() ([]schema.GroupVersionKind, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.watched == nil {
		w.watched = map[schema.GroupKind]bool{}
	}
	kinds, err := w.served(w.watched)
	for _, kind := range kinds {
		if err := w.Controller.Watch(source.Kind(w.Cache, component.Watched(kind), w.Handler)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.GroupKind(), err)
		}
		w.watched[kind.GroupKind()] = true
	}
	return kinds, err
}

// isOpen leaves out the runs that are over when the operator starts, of which there are as
// many as were ever done. Where one has something left that goes with its end, that wakes it.
func isOpen(made event.CreateEvent) bool {
	run, is := made.Object.(*v1alpha1.PerfRun)
	return !is || !made.IsInInitialList || !run.Status.Phase.IsFinal()
}

// wakeups tell which runs an object concerns: those that are on, and when the operator starts
// the one it was made for, which may have ended since.
type wakeups struct{ handler.EventHandler }

// Create wakes as any change does.
func (w wakeups) Create(ctx context.Context, made event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	w.EventHandler.Create(ctx, made, queue)
	if run := made.Object.GetLabels()[v1alpha1.LabelRun]; run != "" && made.IsInInitialList {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: made.Object.GetNamespace(), Name: run}})
	}
}

// activeRuns maps any object of a namespace to the runs that are on in it.
// There is at most one, so nothing is lost by not looking closer.
func activeRuns(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		runs, err := component.RunsOn(ctx, reader, object.GetNamespace())
		if err != nil {
			// The cache only fails while it is being stopped.
			return nil
		}
		requests := make([]reconcile.Request, 0, len(runs))
		for i := range runs {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&runs[i])})
		}
		return requests
	})
}
