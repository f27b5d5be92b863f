// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PerfSystem describes a system that experiments share: modules with images,
// memory and JVM settings, Kafka with its topics, PostgreSQL. An experiment
// that names it (systemRef) copies it before its first run.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=psys,categories=perflab
// +kubebuilder:printcolumn:name="Kafka",type=string,JSONPath=`.spec.kafka.mode`
// +kubebuilder:printcolumn:name="PostgreSQL",type=integer,JSONPath=`.spec.postgres.instances`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PerfSystem struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the system.
	// +required
	Spec System `json:"spec"`
}

// PerfSystemList is a list of PerfSystems.
//
// +kubebuilder:object:root=true
type PerfSystemList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []PerfSystem `json:"items"`
}
