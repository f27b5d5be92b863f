// SPDX-License-Identifier: Apache-2.0

// Package workloads adopts existing Deployments and StatefulSets: it computes the changes
// for a run, assesses their rollout, and restores the original. The original is kept in an
// annotation of the workload, written with the first change, so that a release needs
// nothing else. It is pure.
//
//	adoption := workloads.Adopt(request, module, env, object)
//	workloads.Assess(adoptions, now)
//	workloads.Release(object)
package workloads

import (
	"bytes"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"perflab.dev/perflab/api/v1alpha1"
)

// maxAnnotations is the limit of an object's annotations in bytes, less what ours need
// besides the original.
const maxAnnotations = 256<<10 - 2<<10

// Adopter returns the experiment that adopted an object, as <namespace>/<experiment>; empty
// if none did.
func Adopter(object metav1.Object) string {
	return object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]
}

// AdopterName returns the name of an experiment as an adopter.
func AdopterName(namespace, experiment string) string { return namespace + "/" + experiment }

// AdopterKey parses the name of an adopter; false if it is malformed.
func AdopterKey(borrower string) (types.NamespacedName, bool) {
	namespace, name, found := strings.Cut(borrower, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, found
}

// readOriginal returns the object as it was before adoption: spec, labels, annotations and
// managedFields. For an object that is not adopted it returns the current state.
func readOriginal(object *unstructured.Unstructured) (map[string]any, error) {
	recorded, borrowed := object.GetAnnotations()[v1alpha1.AnnotationOriginal]
	if !borrowed {
		return snapshot(object), nil
	}
	original := map[string]any{}
	if err := json.Unmarshal([]byte(recorded), &original); err != nil {
		return nil, fmt.Errorf("reading annotation %s of %s %q: %w", v1alpha1.AnnotationOriginal, object.GetKind(), object.GetName(), err)
	}
	return original, nil
}

func snapshot(object *unstructured.Unstructured) map[string]any {
	metadata := map[string]any{}
	for _, field := range []string{"labels", "annotations", "managedFields"} {
		if value, found, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", field); found {
			metadata[field] = runtime.DeepCopyJSONValue(value)
		}
	}
	return map[string]any{
		"metadata": metadata,
		"spec":     runtime.DeepCopyJSONValue(object.Object["spec"]),
	}
}

// record encodes an original; false if it does not fit into the object's annotations.
func record(original map[string]any) (string, bool) {
	encoded, err := json.Marshal(original)
	if err != nil {
		// It came from JSON.
		panic(fmt.Sprintf("encoding a workload: %v", err))
	}
	size := len(encoded)
	annotations, _, _ := unstructured.NestedStringMap(original, "metadata", "annotations")
	for key, value := range annotations {
		size += len(key) + len(value)
	}
	return string(encoded), size <= maxAnnotations
}

// managed returns the entries of managedFields.
func managed(object map[string]any) []metav1.ManagedFieldsEntry {
	return (&unstructured.Unstructured{Object: object}).GetManagedFields()
}

// fieldSet parses the fields of an entry. The API server has validated them; a damaged
// record owns nothing.
func fieldSet(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := fieldpath.NewSet()
	if entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return fieldpath.NewSet()
	}
	return set
}

// applied returns the fields that we applied and still own.
func applied(object *unstructured.Unstructured, manager string) *fieldpath.Set {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return fieldSet(entry)
		}
	}
	return fieldpath.NewSet()
}
