// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/naming"
)

// ErrManifest means that a manifest can't be the resource of a fault.
var ErrManifest = errors.New("invalid fault manifest")

// reservedGroups are the API groups that the operator always writes with its own permissions.
var reservedGroups = []string{v1alpha1.GroupVersion.Group, "coordination.k8s.io"}

// Manifest returns the object of a manifest. It fails with ErrManifest.
func Manifest(raw []byte) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &object.Object); err != nil || object.Object == nil {
		return nil, fmt.Errorf("%w: it is not an object", ErrManifest)
	}
	version, err := schema.ParseGroupVersion(object.GetAPIVersion())
	switch {
	case err != nil || object.GetAPIVersion() == "" || object.GetKind() == "":
		return nil, fmt.Errorf("%w: write apiVersion and kind, for example chaos-mesh.org/v1alpha1 and NetworkChaos", ErrManifest)
	case slices.Contains(reservedGroups, version.Group):
		return nil, fmt.Errorf("%w: API group %s is reserved for the operator", ErrManifest, version.Group)
	}
	metadata, _, err := unstructured.NestedMap(object.Object, "metadata")
	if err != nil {
		return nil, fmt.Errorf("%w: metadata is not an object", ErrManifest)
	}
	for key := range metadata {
		if key != "labels" && key != "annotations" {
			return nil, fmt.Errorf("%w: PerfLab sets metadata.%s: remove it", ErrManifest, key)
		}
	}
	return object, nil
}

// Kind returns the kind of the custom resource that a fault creates; false if it creates none.
func Kind(fault v1alpha1.Fault) (schema.GroupKind, bool) {
	if fault.Resource == nil {
		return schema.GroupKind{}, false
	}
	object, err := Manifest(fault.Resource.Manifest.Raw)
	if err != nil {
		return schema.GroupKind{}, false
	}
	return object.GroupVersionKind().GroupKind(), true
}

// Resource returns the custom resource of a fault of a run, which owns it.
func Resource(fault v1alpha1.Fault, run *v1alpha1.PerfRun) (*unstructured.Unstructured, error) {
	object, err := Manifest(fault.Resource.Manifest.Raw)
	if err != nil {
		return nil, err
	}
	object.SetNamespace(run.Namespace)
	object.SetName(run.Name + "-" + fault.Name)
	object.SetOwnerReferences([]metav1.OwnerReference{naming.Owner("PerfRun", run)})
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, naming.RunLabels(run))
	object.SetLabels(labels)
	return object, nil
}

// Shows reports whether the status of an object has a sign.
func Shows(object *unstructured.Unstructured, sign v1alpha1.FaultSign) bool {
	if sign.Field != "" {
		value, found, err := unstructured.NestedFieldNoCopy(object.Object, strings.Split(sign.Field, ".")...)
		return err == nil && found && fmt.Sprint(value) == sign.Value
	}
	return contract.HasCondition(object, sign.Condition)
}
