// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
)

// podCacheLabels are the labels that select the pods of experiments, one cache for each: a
// label selector cannot express "one of these keys". PerfLab's own pods, and the runners and
// starters that k6-operator makes from a TestRun, have the experiment's label. Strimzi and
// CloudNativePG label pods by themselves. To give theirs the experiment's label as well, the
// pod templates would have to change, which restarts the brokers and servers of running
// experiments, and which patches may undo.
var podCacheLabels = []string{v1alpha1.LabelExperiment, contract.LabelStrimziCluster, contract.LabelPostgresCluster}

// podCache returns the label of the cache that has all pods with a label.
func podCache(label string) (string, bool) {
	if label == contract.LabelTestRun {
		label = v1alpha1.LabelExperiment
	}
	return label, slices.Contains(podCacheLabels, label)
}

// PodCaches hold the pods of experiments, by label. The API server does not send other pods:
// a cluster may have tens of thousands.
type PodCaches map[string]ctrlcache.Cache

// NewPodCaches adds the caches of pods in these namespaces, or in all if there are none, to a
// manager.
func NewPodCaches(to manager.Manager, namespaces map[string]ctrlcache.Config) (PodCaches, error) {
	caches := PodCaches{}
	for _, label := range podCacheLabels {
		made, err := ctrlcache.New(to.GetConfig(), ctrlcache.Options{
			HTTPClient: to.GetHTTPClient(), Scheme: to.GetScheme(), Mapper: to.GetRESTMapper(),
			DefaultNamespaces:    namespaces,
			DefaultLabelSelector: hasLabel(label),
			DefaultTransform:     stripPods,
		})
		if err != nil {
			return nil, fmt.Errorf("creating the cache of pods with the label %s: %w", label, err)
		}
		if err := to.Add(runnable{made}); err != nil {
			return nil, fmt.Errorf("adding the cache of pods with the label %s: %w", label, err)
		}
		caches[label] = made
	}
	return caches, nil
}

// runnable is a cache that the manager syncs before it starts the controllers.
type runnable struct{ ctrlcache.Cache }

// GetCache is how the manager recognizes a cache.
func (r runnable) GetCache() ctrlcache.Cache { return r.Cache }

// Sources are the events of all cached pods.
func (c PodCaches) Sources(handler handler.EventHandler) []source.Source {
	var sources []source.Source
	for _, label := range podCacheLabels {
		sources = append(sources, source.Kind(c[label], client.Object(&corev1.Pod{}), handler))
	}
	return sources
}

// Reader reads pods from the caches. It gets a pod that is in none of them from live.
func (c PodCaches) Reader(live client.Reader) client.Reader {
	return PodReader{Reader: live, Cached: func(label string) client.Reader { return c[label] }}
}

// PodReader reads pods of experiments from caches. It gets any other single pod with the
// embedded reader, because it may have the name of a pod of ours.
type PodReader struct {
	client.Reader
	// Cached returns the reader of the cache that holds the pods with a label.
	Cached func(label string) client.Reader
}

// Get reads a pod.
func (p PodReader) Get(ctx context.Context, key client.ObjectKey, pod client.Object, options ...client.GetOption) error {
	err := p.Cached(v1alpha1.LabelExperiment).Get(ctx, key, pod, options...)
	if apierrors.IsNotFound(err) {
		return p.Reader.Get(ctx, key, pod, options...)
	}
	return err
}

// List lists pods by a cached label. It returns ErrUncachedPods if the options select other
// pods as well.
func (p PodReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	listed := client.ListOptions{}
	listed.ApplyOptions(options)
	label, found := requiredPodCache(listed.LabelSelector)
	if !found {
		return fmt.Errorf("listing pods %v: %w", listed.LabelSelector, ErrUncachedPods)
	}
	return p.Cached(label).List(ctx, list, options...)
}

// ErrUncachedPods means that a list may include pods that no cache holds.
var ErrUncachedPods = errors.New("select pods by one of the labels " + strings.Join(append(slices.Clone(podCacheLabels), contract.LabelTestRun), ", "))

// requiredPodCache returns the cache that has all pods that match the selector.
func requiredPodCache(selector labels.Selector) (string, bool) {
	if selector == nil {
		return "", false
	}
	requirements, _ := selector.Requirements()
	present := []selection.Operator{selection.Exists, selection.Equals, selection.DoubleEquals, selection.In}
	for _, requirement := range requirements {
		if label, found := podCache(requirement.Key()); found && slices.Contains(present, requirement.Operator()) {
			return label, true
		}
	}
	return "", false
}
