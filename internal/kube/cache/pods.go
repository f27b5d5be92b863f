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
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
)

// podLabels are those by which pods that work for experiments are found: those that
// we make, and those that other operators make for us.
var podLabels = []string{
	v1alpha1.LabelExperiment, contract.LabelTestRun, contract.LabelStrimziCluster, contract.LabelPostgresCluster,
}

// PodCaches hold the pods with each of the labels by which those that work for
// experiments are found. A cluster may have tens of thousands of others, of which the
// API server does not tell.
type PodCaches map[string]cache.Cache

// NewPodCaches makes them for a manager, which starts them, of these namespaces; none
// are all. It fails when the manager takes no more.
func NewPodCaches(to manager.Manager, namespaces map[string]cache.Config) (PodCaches, error) {
	caches := PodCaches{}
	for _, label := range podLabels {
		made, err := cache.New(to.GetConfig(), cache.Options{
			HTTPClient: to.GetHTTPClient(), Scheme: to.GetScheme(), Mapper: to.GetRESTMapper(),
			DefaultNamespaces:    namespaces,
			DefaultLabelSelector: has(label),
			DefaultTransform:     StripPodTransform(),
		})
		if err != nil {
			return nil, fmt.Errorf("making the cache of pods with the label %s: %w", label, err)
		}
		if err := to.Add(started{made}); err != nil {
			return nil, fmt.Errorf("adding the cache of pods with the label %s: %w", label, err)
		}
		caches[label] = made
	}
	return caches, nil
}

// started is a cache that the manager fills before it starts its controllers.
type started struct{ cache.Cache }

// GetCache is what the manager knows a cache by.
func (s started) GetCache() cache.Cache { return s.Cache }

// has selects what carries a label.
func has(label string) labels.Selector {
	carried, err := labels.NewRequirement(label, selection.Exists, nil)
	utilruntime.Must(err)
	return labels.NewSelector().Add(*carried)
}

// Sources wake for whatever changes in one of these pods.
func (c PodCaches) Sources(wake handler.EventHandler) []source.Source {
	var sources []source.Source
	for _, label := range podLabels {
		sources = append(sources, source.Kind(c[label], client.Object(&corev1.Pod{}), wake))
	}
	return sources
}

// Reader reads pods from the caches, and one that is in none of them from the API server.
func (c PodCaches) Reader(live client.Reader) client.Reader {
	return PodReader{Reader: live, Cached: func(label string) client.Reader { return c[label] }}
}

// PodReader read the pods that work for experiments, and as the embedded reader does a single
// one that does not: one that stands in the place of ours shows to no cache.
type PodReader struct {
	client.Reader
	// Cached has the pods with a label.
	Cached func(label string) client.Reader
}

// Get reads a pod of an experiment's, or else of anybody's.
func (p PodReader) Get(ctx context.Context, key client.ObjectKey, pod client.Object, options ...client.GetOption) error {
	err := p.Cached(v1alpha1.LabelExperiment).Get(ctx, key, pod, options...)
	if apierrors.IsNotFound(err) {
		return p.Reader.Get(ctx, key, pod, options...)
	}
	return err
}

// List lists pods with one of the labels by which those that work for experiments are
// found; it fails when the options ask for others as well.
func (p PodReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := client.ListOptions{}
	asked.ApplyOptions(options)
	label, found := labelAsked(asked.LabelSelector)
	if !found {
		return fmt.Errorf("listing pods %v: %w", asked.LabelSelector, ErrUncachedPods)
	}
	return p.Cached(label).List(ctx, list, options...)
}

// ErrUncachedPods says that a list of pods is asked for that may have others than ours.
var ErrUncachedPods = errors.New("only those with one of these labels are known: " + strings.Join(podLabels, ", "))

// labelAsked is a label of ours that all that is selected carries.
func labelAsked(selector labels.Selector) (string, bool) {
	if selector == nil {
		return "", false
	}
	requirements, _ := selector.Requirements()
	carried := []selection.Operator{selection.Exists, selection.Equals, selection.DoubleEquals, selection.In}
	for _, requirement := range requirements {
		if slices.Contains(carried, requirement.Operator()) && slices.Contains(podLabels, requirement.Key()) {
			return requirement.Key(), true
		}
	}
	return "", false
}
