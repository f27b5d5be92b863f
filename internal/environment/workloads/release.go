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

// annotationRevision is where the Deployment controller counts the versions
// of a pod template. It is its own bookkeeping, like the status.
const annotationRevision = "deployment.kubernetes.io/revision"

// subresourceStatus marks the fields a workload's controller has written.
const subresourceStatus = "status"

// ReleaseWrite is one of the two writes that give a workload back. The first brings
// back the fields; because it makes us their owner, a second one is needed to
// bring back the owners. What the workload was stays on it until the second, so
// that a return that is interrupted can be done again.
type ReleaseWrite struct {
	// Object to write, over exactly the version it was made from.
	Object *unstructured.Unstructured
	// Last: with this write the workload is given back.
	Last bool
	// Differences are the fields that are not as they were because somebody else has
	// changed them meanwhile.
	Differences []string
}

// Release says what to write next to give a borrowed workload back; false
// when nobody has borrowed it. Only what we have changed and still own is taken
// back: changes of others stay. The manager is the name under which the
// workload was changed. The object must hold its managedFields.
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

// removeAnnotations takes our annotations off an object, also those somebody has
// re-applied under another name.
func removeAnnotations(object *unstructured.Unstructured) {
	for _, key := range []string{v1alpha1.AnnotationOriginal, v1alpha1.AnnotationBorrowedBy, v1alpha1.AnnotationFingerprint} {
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", key)
	}
	if len(object.GetAnnotations()) == 0 {
		object.SetAnnotations(nil)
	}
}

// keepAnnotations keeps what a return that is interrupted needs.
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

// restoreOwners are the owners of an object without us: what we have taken goes
// back to whom it belonged, with the time at which it did.
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
		// A set that was read can be written.
		panic("writing a set of fields: " + err.Error())
	}
	changed.FieldsV1 = &metav1.FieldsV1{}
	changed.FieldsV1.SetRawBytes(raw)
	return changed
}
