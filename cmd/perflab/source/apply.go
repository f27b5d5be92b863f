// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/kube/schema"
)

// FieldOwner is the field owner of the command line.
const FieldOwner = client.FieldOwner("kubectl-perflab")

// Apply creates an object in the cluster, or updates it, in the given namespace if it names none.
func Apply(ctx context.Context, writer client.Client, object *unstructured.Unstructured, namespace string) error {
	namespaced, err := writer.IsObjectNamespaced(object)
	if err != nil {
		return fmt.Errorf("%s %q: %w; check that its CRD is installed (kubectl perflab doctor)", object.GetKind(), object.GetName(), err)
	}
	if namespaced && object.GetNamespace() == "" {
		object.SetNamespace(namespace)
	}
	err = writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), FieldOwner, client.ForceOwnership)
	if err != nil && schema.IsOurs(object) {
		// Schema messages of the API server are hard to read.
		if faults := schema.Check(ctx, object); len(faults) > 0 {
			return InvalidError(fmt.Sprintf("%s %q", object.GetKind(), object.GetName()), withSuggestions(object, faults))
		}
	}
	if err != nil {
		return fmt.Errorf("applying %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}
