// SPDX-License-Identifier: Apache-2.0

// Package workloads borrows Deployments and StatefulSets that are already
// there: it says what to change in one for a run, whether the change has taken
// place, and how to give the workload back as it was. What it was is kept in an
// annotation on the workload itself, written with the first change, so that
// nothing else has to survive. It is pure.
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

// maxAnnotations is what an object's annotations may have together, in bytes,
// less what ours need besides the original.
const maxAnnotations = 256<<10 - 2<<10

// Adopter is who has borrowed an object, as <namespace>/<experiment>; empty
// when nobody has.
func Adopter(object metav1.Object) string {
	return object.GetAnnotations()[v1alpha1.AnnotationBorrowedBy]
}

// AdopterName is how an experiment is named as a borrower.
func AdopterName(namespace, experiment string) string { return namespace + "/" + experiment }

// AdopterKey is the experiment a borrower's name stands for; false when it is
// no such name.
func AdopterKey(borrower string) (types.NamespacedName, bool) {
	namespace, name, found := strings.Cut(borrower, "/")
	return types.NamespacedName{Namespace: namespace, Name: name}, found
}

// readOriginal is what an object was before it was borrowed: spec, and of
// metadata the labels, annotations and managedFields. Of an object nobody has
// borrowed it is what it is now.
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

// record writes an original down; it says false when there is no room for it
// among the object's annotations.
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

// managed are the entries of managedFields.
func managed(object map[string]any) []metav1.ManagedFieldsEntry {
	return (&unstructured.Unstructured{Object: object}).GetManagedFields()
}

// fieldSet reads the fields of an entry. The API server has checked those it
// shows; a record that somebody has damaged owns nothing.
func fieldSet(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := fieldpath.NewSet()
	if entry.FieldsV1 == nil || set.FromJSON(bytes.NewReader(entry.FieldsV1.GetRawBytes())) != nil {
		return fieldpath.NewSet()
	}
	return set
}

// applied are the fields that are ours because we have applied them and nobody
// has changed them since.
func applied(object *unstructured.Unstructured, manager string) *fieldpath.Set {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" {
			return fieldSet(entry)
		}
	}
	return fieldpath.NewSet()
}
