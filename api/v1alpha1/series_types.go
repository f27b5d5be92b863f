// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SeriesChange is a place where a metric changed in the history of the namespace's
// experiments.
type SeriesChange struct {
	// scenario the runs were done under.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, for example cico/Check-In/average.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// arm that has the metric in each of the experiments.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// verdict: Better or Worse.
	Verdict Verdict `json:"verdict"`
	// delta of what was measured from here on against what was measured before:
	// percent on the ratio scale, else in the metric's unit.
	// +kubebuilder:validation:MaxLength=512
	Delta string `json:"delta"`
	// low end of the 95 % interval of delta.
	// +kubebuilder:validation:MaxLength=512
	Low string `json:"low"`
	// high end of the 95 % interval of delta.
	// +kubebuilder:validation:MaxLength=512
	High string `json:"high"`
	// unit of delta and its interval.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Unit string `json:"unit,omitempty"`
	// before is the release measured last before the change.
	// +kubebuilder:validation:MaxLength=512
	Before string `json:"before"`
	// after is the release measured first after it.
	// +kubebuilder:validation:MaxLength=512
	After string `json:"after"`
	// experiments are the names of the two that measured before and after.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MaxLength=512
	Experiments []string `json:"experiments"`
	// time at which the first load after the change began.
	Time metav1.Time `json:"time"`
	// sentence says it in words.
	// +kubebuilder:validation:MaxLength=2048
	Sentence string `json:"sentence"`
	// differences are sentences on what differs between before and after.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=21
	// +kubebuilder:validation:items:MaxLength=2048
	Differences []string `json:"differences,omitempty"`
}

// AnnouncementStatus is what the operator sends to the installation's sinks about the
// experiment, and the progress.
type AnnouncementStatus struct {
	// phase that is announced: Complete or Stalled.
	// +kubebuilder:validation:MaxLength=512
	Phase ExperimentPhase `json:"phase"`
	// time at which the experiment came to it.
	Time metav1.Time `json:"time"`
	// sinks that took something.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Sinks []SinkStatus `json:"sinks,omitempty"`
}

// SinkStatus is how much of it a sink took.
type SinkStatus struct {
	// name of the sink, as the operator's flags call it.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// told is the number of announcements it took, which come in a fixed order.
	Told int32 `json:"told"`
}
