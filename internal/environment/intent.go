// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// Components of a system, the values of v1alpha1.LabelComponent.
const (
	ComponentKafka    = "kafka"
	ComponentTopic    = "topic"
	ComponentPostgres = "postgres"
	ComponentModule   = "module"
	ComponentImages   = "images"
)

// Fingerprint identifies a declaration: two that are alike have the same.
func Fingerprint(declaration any) string { return naming.Hash(declaration)[:16] }

// ReadFingerprint is the fingerprint of the declaration an object was made from;
// empty for nil and for objects that are not ours.
func ReadFingerprint(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	return object.GetAnnotations()[v1alpha1.AnnotationFingerprint]
}

// Intent makes an object of one of the run's components. It belongs to the
// experiment and carries the fingerprint of the declaration it is made from.
func (r Request) Intent(kind schema.GroupVersionKind, name, component, fingerprint string) Intent {
	intent := NewIntent(kind, r.Namespace, name, naming.ComponentLabels(r.Experiment, component), r.Owner)
	intent.SetAnnotations(map[string]string{v1alpha1.AnnotationFingerprint: fingerprint})
	return intent
}

// RunIntent makes an object that belongs to a run and goes with it.
func RunIntent(run *v1alpha1.PerfRun, kind schema.GroupVersionKind, name string, labels map[string]string) Intent {
	return NewIntent(kind, run.Namespace, name, labels, naming.Owner("PerfRun", run))
}

// NewIntent makes an object of this kind that has nothing but its metadata.
func NewIntent(kind schema.GroupVersionKind, namespace, name string, labels map[string]string, owner metav1.OwnerReference) Intent {
	intent := &unstructured.Unstructured{Object: map[string]any{}}
	intent.SetGroupVersionKind(kind)
	intent.SetNamespace(namespace)
	intent.SetName(name)
	intent.SetLabels(labels)
	intent.SetOwnerReferences([]metav1.OwnerReference{owner})
	return intent
}

// AddLabel puts one more label on an intent.
func AddLabel(intent Intent, key, value string) {
	labels := intent.GetLabels()
	labels[key] = value
	intent.SetLabels(labels)
}

// Fields turns a typed API value into the fields of an intent.
func Fields(value any) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		// Only API values come here; they always convert.
		panic(fmt.Sprintf("converting %T: %v", value, err))
	}
	return fields
}
