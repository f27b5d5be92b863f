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
	kubecache "perflab.dev/perflab/internal/kube/cache"
)

// ThirdPartyWatches watches the kinds of third-party operators. They may be installed later, so
// each reconcile starts the watches that are possible.
type ThirdPartyWatches struct {
	Cluster kube.Cluster
	Cache   cache.Cache
	// Pods trigger reconciles as well.
	Pods kubecache.PodCaches
	// Controller and Handler are set when the controller is built.
	Controller controller.Controller
	Handler    handler.EventHandler

	mutex   sync.Mutex
	watched map[schema.GroupKind]bool
}

// Start syncs the caches of all kinds at the same time: a reconcile that is the first to read a
// kind waits for its cache, which adds up to a second. Start does not wait, so that a kind that
// cannot be listed affects only the reconciles that read it.
func (w *ThirdPartyWatches) Start(ctx context.Context) error {
	kinds, err := w.ensure()
	built, failed := component.Kinds(w.Cluster)
	err = errors.Join(err, failed)
	for _, kind := range slices.Concat(kinds, built, cachedKinds) {
		_, failed := w.Cache.GetInformer(ctx, kubecache.NewObject(kind), cache.BlockUntilSynced(false))
		err = errors.Join(err, failed)
	}
	if err != nil {
		log.FromContext(ctx).V(1).Info("Some kinds are cached on first use", "error", err.Error())
	}
	return nil
}

// unwatchedKinds returns the third-party kinds that the cluster serves and that are not watched
// yet, with the errors of discovery.
func (w *ThirdPartyWatches) unwatchedKinds(known map[schema.GroupKind]bool) (kinds []schema.GroupVersionKind, err error) {
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

// NeedLeaderElection returns false: a standby operator keeps its caches filled.
func (*ThirdPartyWatches) NeedLeaderElection() bool { return false }

// cachedKinds are Kubernetes' kinds that runs read and that trigger no reconcile.
var cachedKinds = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("ServiceAccount"),
	rbacv1.SchemeGroupVersion.WithKind("RoleBinding"),
}

// Ensure starts the missing watches that are possible.
func (w *ThirdPartyWatches) Ensure(context.Context) error {
	_, err := w.ensure()
	return err
}

// ensure returns the kinds whose watches it started.
func (w *ThirdPartyWatches) ensure() ([]schema.GroupVersionKind, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.watched == nil {
		w.watched = map[schema.GroupKind]bool{}
	}
	kinds, err := w.unwatchedKinds(w.watched)
	for _, kind := range kinds {
		if err := w.Controller.Watch(source.Kind(w.Cache, kubecache.NewObject(kind), w.Handler)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.GroupKind(), err)
		}
		w.watched[kind.GroupKind()] = true
	}
	return kinds, err
}

// isUnfinished ignores runs that are finished when the operator starts. Objects that they left
// behind trigger their reconcile.
func isUnfinished(made event.CreateEvent) bool {
	run, is := made.Object.(*v1alpha1.PerfRun)
	return !is || !made.IsInInitialList || !run.Status.Phase.IsFinal()
}

// runHandler enqueues the active runs of an object's namespace and, when the operator starts,
// the run that the object was created for, which may be finished.
type runHandler struct{ handler.EventHandler }

// Create enqueues runs as for any event.
func (w runHandler) Create(ctx context.Context, made event.CreateEvent, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	w.EventHandler.Create(ctx, made, queue)
	if run := made.Object.GetLabels()[v1alpha1.LabelRun]; run != "" && made.IsInInitialList {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Namespace: made.Object.GetNamespace(), Name: run}})
	}
}

// enqueueActiveRuns maps an object to the active runs of its namespace: at most one.
func enqueueActiveRuns(reader client.Reader) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		runs, err := kubecache.ListActiveRuns(ctx, reader, object.GetNamespace())
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
