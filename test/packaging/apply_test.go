// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/expect"
)

// lastApplied is the annotation in which kubectl apply without --server-side stores the object.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// kubectl apply also works without --server-side: the definitions fit into its annotation, with
// a tenth of the space left for future fields.
func TestDefinitionsFitClientSideApply(t *testing.T) {
	admin := administrator(t)
	for key, object := range build(t, "default") {
		if object.GetKind() != "CustomResourceDefinition" {
			continue
		}
		written, err := runtime.Encode(unstructured.UnstructuredJSONScheme, object)
		expect.NoError(t, err)
		if most := validation.TotalAnnotationSizeLimitB * 9 / 10; len(written) > most {
			t.Errorf("%s takes %d bytes, more than %d: shorten descriptions (hack/crd)", key, len(written), most)
		}
		annotations := maps.Clone(object.GetAnnotations())
		annotations[lastApplied] = string(written)
		object.SetAnnotations(annotations)
		if err := admin.Create(t.Context(), object, client.DryRunAll); client.IgnoreAlreadyExists(err) != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}
