// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"perflab.dev/perflab/api/v1alpha1"
)

// annotationRevision is the Deployment controller's revision counter. Like the status, it
// belongs to the controller.
const annotationRevision = "deployment.kubernetes.io/revision"

// subresourceStatus marks the fields that a workload's controller has written.
const subresourceStatus = "status"

// ReleaseWrite is one of the two writes that release a workload. The first restores the
// fields, which makes us their owner; the second restores the owners. The annotation with
// the original stays until the second write, so that an interrupted release can be
// repeated.
type ReleaseWrite struct {
	// Object to write, over exactly the version it was made from.
	Object *unstructured.Unstructured
	// Last: this write completes the release.
	Last bool
	// Differences are the fields that are not restored because another client has changed
	// them.
	Differences []string
}

// Release returns the next write that releases an adopted workload; false if it is not
// adopted. It restores only fields that we changed and still own, and keeps the changes of
// others. The manager is the field manager of our changes. The object must hold its
// managedFields.
func Release(object *unstructured.Unstructured, manager string) (ReleaseWrite, bool, error) {
	if Adopter(object) == "" {
		return ReleaseWrite{}, false, nil
	}
	original, err := readOriginal(object)
	if err != nil {
		return ReleaseWrite{}, false, err
	}
	restored := object.DeepCopy()
	undo(restored.Object, original, applied(object, manager))
	removeAnnotations(restored)
	next := ReleaseWrite{Object: restored, Differences: differences(original, snapshot(restored))}

	intermediate := restored.DeepCopy()
	keepAnnotations(intermediate, object)
	if !reflect.DeepEqual(restoredFields(intermediate), restoredFields(object)) {
		next.Object = intermediate
		return next, true, nil
	}
	next.Last = true
	restored.SetManagedFields(restoreOwners(object.GetManagedFields(), managed(original), manager))
	return next, true, nil
}

// removeAnnotations removes our annotations from an object, even those that another client
// has re-applied.
func removeAnnotations(object *unstructured.Unstructured) {
	for _, key := range []string{v1alpha1.AnnotationOriginal, v1alpha1.AnnotationBorrowedBy, v1alpha1.AnnotationFingerprint} {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", key)
	}
	if len(object.GetAnnotations()) == 0 {
		object.SetAnnotations(nil)
	}
}

// keepAnnotations keeps the annotations that an interrupted release needs.
func keepAnnotations(intermediate, object *unstructured.Unstructured) {
	annotations := intermediate.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	for _, key := range []string{v1alpha1.AnnotationOriginal, v1alpha1.AnnotationBorrowedBy} {
		annotations[key] = object.GetAnnotations()[key]
	}
	intermediate.SetAnnotations(annotations)
}

func restoredFields(object *unstructured.Unstructured) []any {
	return []any{object.Object["spec"], object.GetLabels(), object.GetAnnotations()}
}

type owner struct {
	manager, subresource, version string
	operation                     metav1.ManagedFieldsOperationType
}

func newOwner(entry metav1.ManagedFieldsEntry) owner {
	return owner{entry.Manager, entry.Subresource, entry.APIVersion, entry.Operation}
}

// restoreOwners returns an object's managedFields without ours: the fields return to their
// previous owners, with the original timestamps.
func restoreOwners(now, before []metav1.ManagedFieldsEntry, manager string) []metav1.ManagedFieldsEntry {
	ours := fieldpath.NewSet()
	var entries []metav1.ManagedFieldsEntry
	for _, entry := range now {
		if entry.Manager == manager && entry.Subresource == "" {
			ours = ours.Union(fieldSet(entry))
			continue
		}
		entries = append(entries, entry)
	}
	for _, entry := range before {
		back := fieldSet(entry).Intersection(ours)
		if entry.Subresource == subresourceStatus || back.Empty() {
			continue
		}
		at := slices.IndexFunc(entries, func(e metav1.ManagedFieldsEntry) bool { return newOwner(e) == newOwner(entry) })
		if at < 0 {
			entries = append(entries, *withFields(entry, back))
			continue
		}
		entries[at] = *withFields(entries[at], fieldSet(entries[at]).Union(back))
	}
	return entries
}

func withFields(entry metav1.ManagedFieldsEntry, fields *fieldpath.Set) *metav1.ManagedFieldsEntry {
	changed := entry.DeepCopy()
	raw, err := fields.ToJSON()
	if err != nil {
		// A parsed set can be encoded.
		panic("writing a set of fields: " + err.Error())
	}
	changed.FieldsV1 = &metav1.FieldsV1{}
	changed.FieldsV1.SetRawBytes(raw)
	return changed
}
