// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the k6.io/v1alpha1 TestRun as the k6-operator emulator serves it. It
// has the fields of k6-operator 1.6.0 with the same names and types, except those for Grafana
// Cloud and for the deprecated Envoy support.
//
// +kubebuilder:object:generate=true
// +groupName=k6.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the only version k6-operator serves.
var GroupVersion = schema.GroupVersion{Group: "k6.io", Version: "v1alpha1"}

// AddToScheme registers TestRun.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &TestRun{}, &TestRunList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
