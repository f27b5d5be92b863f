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

// Fingerprint identifies a declaration: equal declarations have the same.
func Fingerprint(declaration any) string { return naming.Hash(declaration)[:16] }

// ReadFingerprint returns the fingerprint of the declaration that an object was rendered
// from; empty for nil and for third-party objects.
func ReadFingerprint(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	return object.GetAnnotations()[v1alpha1.AnnotationFingerprint]
}

// Intent returns an object of one of the run's components. The experiment owns it, and it
// carries the fingerprint of its declaration.
func (r Request) Intent(kind schema.GroupVersionKind, name, component, fingerprint string) Intent {
	intent := NewIntent(kind, r.Namespace, name, naming.ComponentLabels(r.Experiment, component), r.Owner)
	intent.SetAnnotations(map[string]string{v1alpha1.AnnotationFingerprint: fingerprint})
	return intent
}

// RunIntent returns an object that a run owns.
func RunIntent(run *v1alpha1.PerfRun, kind schema.GroupVersionKind, name string, labels map[string]string) Intent {
	return NewIntent(kind, run.Namespace, name, labels, naming.Owner("PerfRun", run))
}

// NewIntent returns an object with only its metadata.
func NewIntent(kind schema.GroupVersionKind, namespace, name string, labels map[string]string, owner metav1.OwnerReference) Intent {
	intent := &unstructured.Unstructured{Object: map[string]any{}}
	intent.SetGroupVersionKind(kind)
	intent.SetNamespace(namespace)
	intent.SetName(name)
	intent.SetLabels(labels)
	intent.SetOwnerReferences([]metav1.OwnerReference{owner})
	return intent
}

// AddLabel adds a label to an intent.
func AddLabel(intent Intent, key, value string) {
	labels := intent.GetLabels()
	labels[key] = value
	intent.SetLabels(labels)
}

// Fields converts a typed API value to the fields of an intent.
func Fields(value any) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(value)
	if err != nil {
		// API values always convert.
		panic(fmt.Sprintf("converting %T: %v", value, err))
	}
	return fields
}
