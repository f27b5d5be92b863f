// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// NewOptions returns the options of the manager's cache for one namespace, or for all if it
// is empty. Finished runs, settled experiments and objects of others cost little memory.
// Queue tickets are Leases in leaseNamespace; the cache holds none if that is empty.
func NewOptions(config *rest.Config, namespace, leaseNamespace string) (ctrlcache.Options, error) {
	server, err := NewRESTClient(config)
	if err != nil {
		return ctrlcache.Options{}, err
	}
	return ctrlcache.Options{
		DefaultNamespaces: Namespaces(namespace),
		ByObject:          ticketLeases(leaseNamespace),
		DefaultTransform:  StripTransform(),
		NewInformer:       NewInformer(server, namespace),
	}, nil
}

// Namespaces limits a cache to a namespace. An empty name means all namespaces.
func Namespaces(name string) map[string]ctrlcache.Config {
	if name == "" {
		return nil
	}
	return map[string]ctrlcache.Config{name: {}}
}

// ticketLeases selects the Leases that are queue tickets of experiments.
func ticketLeases(namespace string) map[client.Object]ctrlcache.ByObject {
	if namespace == "" {
		return nil
	}
	return map[client.Object]ctrlcache.ByObject{
		&coordinationv1.Lease{}: {Namespaces: map[string]ctrlcache.Config{namespace: {LabelSelector: hasLabel(v1alpha1.LabelTurn)}}},
	}
}

func hasLabel(label string) labels.Selector {
	exists, err := labels.NewRequirement(label, selection.Exists, nil)
	utilruntime.Must(err)
	return labels.NewSelector().Add(*exists)
}

// NewObject returns an empty object of a kind to watch. It is unstructured, as are the reads
// of third-party kinds: a typed watch would make the cache hold a second copy.
func NewObject(kind schema.GroupVersionKind) client.Object {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// NewInformer returns the constructor of the cache's informers. Informers of the operator's
// own kinds list in pages and decode only what the cache keeps. They need no transform: it
// would copy all objects while the originals are still held. Other kinds are listed as
// client-go does, with a watch list: decoding an object of a stream before its kind is known
// reads it several times.
func NewInformer(server rest.Interface, namespace string) func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer {
	return func(lister toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		if resource := ownResource(example); resource != nil {
			lister = pagedLister{toolscache.ToListerWatcherWithContext(lister), server, namespace, *resource}
		}
		return toolscache.NewSharedIndexInformer(lister, example, resync, indexers)
	}
}

func ownResource(example runtime.Object) *resource {
	switch example.(type) {
	case *v1alpha1.PerfExperiment:
		return &experiments
	case *v1alpha1.PerfRun:
		return &runs
	case *v1alpha1.PerfSystem:
		return &systems
	case *v1alpha1.PerfSchedule:
		return &schedules
	default:
		return nil
	}
}
