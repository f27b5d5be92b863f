// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	kubecache "perflab.dev/perflab/internal/kube/cache"
)

// inMemory returns a fake cluster in memory with these objects. It has no schemas and no
// controllers.
func inMemory(objects ...client.Object) (client.WithWatch, error) {
	scheme, mapper, err := kinds()
	if err != nil {
		return nil, err
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
		WithStatusSubresource(&v1alpha1.PerfExperiment{}, &v1alpha1.PerfRun{}, testRun()).
		WithInterceptorFuncs(interceptor.Funcs{Create: createWhole, List: listKnown}).WithObjects(objects...)
	if err := kubecache.IndexRuns(context.Background(), indexer{builder}); err != nil {
		return nil, err
	}
	return builder.Build(), nil
}

// kinds returns the kinds that a cluster in memory supports. Each cluster has its own scheme,
// because its client adds further kinds.
func kinds() (*runtime.Scheme, meta.RESTMapper, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, nil, fmt.Errorf("registering Kubernetes' kinds: %w", err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, nil, fmt.Errorf("registering PerfLab's kinds: %w", err)
	}
	scheme.AddKnownTypeWithName(contract.TestRunKind, testRun())
	scheme.AddKnownTypeWithName(contract.TestRunKind.GroupVersion().WithKind("TestRunList"), &unstructured.UnstructuredList{})
	mapper := meta.NewDefaultRESTMapper(scheme.PrioritizedVersionsAllGroups())
	for kind := range scheme.AllKnownTypes() {
		scope := meta.RESTScopeNamespace
		if kind.Kind == "Node" || kind.Kind == "Namespace" {
			scope = meta.RESTScopeRoot
		}
		mapper.Add(kind, scope)
	}
	return scheme, mapper, nil
}

func testRun() *unstructured.Unstructured {
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(contract.TestRunKind)
	return made
}

// createWhole creates an object with the defaults of its schema, as the API server does.
func createWhole(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
	if object.GetUID() == "" {
		identify(object)
	}
	if one, is := object.(*v1alpha1.PerfExperiment); is {
		one.Spec.Validity.MaxAttempts = 3
		for i := range one.Spec.System.Modules {
			module := &one.Spec.System.Modules[i]
			module.Replicas, module.Port = ptr.To(int32(replicas(*module))), 8081
		}
	}
	return c.Create(ctx, object, options...)
}

// identify sets an object's metadata that the API server sets.
func identify(object client.Object) {
	object.SetUID(uuid.NewUUID())
	object.SetCreationTimestamp(metav1.Now().Rfc3339Copy())
	if _, none := object.(*corev1.ConfigMap); !none {
		object.SetGeneration(1)
	}
}

// listKnown returns an empty list for the kinds of other operators, which a cluster in
// memory does not support.
func listKnown(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	err := c.List(ctx, list, options...)
	if _, foreign := list.(*unstructured.UnstructuredList); foreign && runtime.IsMissingVersion(err) {
		return nil
	}
	return err
}

// indexer adds indexes of fields to the client that is being built.
type indexer struct{ builder *fake.ClientBuilder }

func (i indexer) IndexField(_ context.Context, object client.Object, field string, value client.IndexerFunc) error {
	i.builder.WithIndex(object, field, value)
	return nil
}
