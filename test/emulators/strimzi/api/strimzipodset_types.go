// SPDX-License-Identifier: Apache-2.0

package api

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StrimziPodSet is a set of Pods, each with its full manifest.
//
// +kubebuilder:object:root=true
type StrimziPodSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   StrimziPodSetSpec   `json:"spec,omitempty"`
	Status StrimziPodSetStatus `json:"status,omitempty"`
}

// StrimziPodSetList is a list of StrimziPodSet.
//
// +kubebuilder:object:root=true
type StrimziPodSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []StrimziPodSet `json:"items"`
}

// StrimziPodSetSpec is the desired state of a set.
type StrimziPodSetSpec struct {
	Selector *metav1.LabelSelector `json:"selector"`
	Pods     []corev1.Pod          `json:"pods"`
}

// StrimziPodSetStatus counts the Pods. A count of 0 is present.
type StrimziPodSetStatus struct {
	ObservedGeneration int64 `json:"observedGeneration"`
	Pods               int32 `json:"pods"`
	ReadyPods          int32 `json:"readyPods"`
	CurrentPods        int32 `json:"currentPods"`
}
