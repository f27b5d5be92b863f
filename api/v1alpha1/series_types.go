// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SeriesChange is a change of a metric in the history of the namespace's
// experiments.
type SeriesChange struct {
	// scenario of the runs.
	// +kubebuilder:validation:MaxLength=512
	Scenario string `json:"scenario"`
	// metric, for example cico/Check-In/average.
	// +kubebuilder:validation:MaxLength=1024
	Metric string `json:"metric"`
	// arm with the metric in each of the experiments.
	// +kubebuilder:validation:MaxLength=512
	Arm string `json:"arm"`
	// verdict: Better or Worse.
	Verdict Verdict `json:"verdict"`
	// delta of the measurements from the change on against those before:
	// percent on the ratio scale, otherwise in the metric's unit.
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
	// before is the last release measured before the change.
	// +kubebuilder:validation:MaxLength=512
	Before string `json:"before"`
	// after is the first release measured after it.
	// +kubebuilder:validation:MaxLength=512
	After string `json:"after"`
	// experiments are the names of those before and after.
	// +listType=atomic
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=2
	// +kubebuilder:validation:items:MaxLength=512
	Experiments []string `json:"experiments"`
	// time at which the first load after the change began.
	Time metav1.Time `json:"time"`
	// sentence describes the change.
	// +kubebuilder:validation:MaxLength=2048
	Sentence string `json:"sentence"`
	// differences between before and after, in sentences.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=21
	// +kubebuilder:validation:items:MaxLength=2048
	Differences []string `json:"differences,omitempty"`
}

// AnnouncementStatus is what the operator sends to the installation's sinks about the
// experiment, and the progress.
type AnnouncementStatus struct {
	// phase to announce: Complete or Stalled.
	// +kubebuilder:validation:MaxLength=512
	Phase ExperimentPhase `json:"phase"`
	// time at which the experiment reached it.
	Time metav1.Time `json:"time"`
	// sinks that accepted announcements.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Sinks []SinkStatus `json:"sinks,omitempty"`
}

// SinkStatus is the progress of a sink.
type SinkStatus struct {
	// name of the sink in the operator's flags.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// told is the number of announcements that the sink accepted, which have a
	// fixed order.
	Told int32 `json:"told"`
}
