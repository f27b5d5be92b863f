// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ServersStatus describes the system's servers under load, beside the
// observations.
type ServersStatus struct {
	// rawSamples names the ConfigMap with all samples.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RawSamples string `json:"rawSamples,omitempty"`
	// rounds is how often the servers were sampled.
	// +optional
	Rounds int32 `json:"rounds,omitempty"`
	// longestGap is the longest time without samples of a source, from the
	// first load's start to the last load's end.
	// +optional
	LongestGap *metav1.Duration `json:"longestGap,omitempty"`
	// interval between two rounds.
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
	// silent is the source with the longest gap: pods, metrics, postgres,
	// kafka, custom/<name> or, if nothing was sampled, collector.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Silent string `json:"silent,omitempty"`
	// node of the collector. Metrics that begin with node/ are those of this
	// node.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Node string `json:"node,omitempty"`
	// pods of modules with several pods, at most 16 per module, with their
	// average usage while load counted.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=200
	Pods []PodUse `json:"pods,omitempty"`
	// statements that took most of PostgreSQL's time, the longest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Statements []StatementShare `json:"statements,omitempty"`
	// notes are what could not be measured, and why.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=2048
	Notes []string `json:"notes,omitempty"`
}

// StatementShare is the share of a statement in PostgreSQL's time.
type StatementShare struct {
	// server that ran the statement, for example postgres/primary.
	// +kubebuilder:validation:MaxLength=512
	Server string `json:"server"`
	// text of the statement without its literals, at most 500 bytes; of a
	// statement that is no query, only its command.
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text"`
	// calls of the statement.
	Calls int64 `json:"calls"`
	// rows it returned or changed.
	Rows int64 `json:"rows"`
	// totalSeconds of all calls.
	// +kubebuilder:validation:MaxLength=512
	TotalSeconds string `json:"totalSeconds"`
	// meanMilliseconds per call.
	// +kubebuilder:validation:MaxLength=512
	MeanMilliseconds string `json:"meanMilliseconds"`
	// percent of the time of all statements of the server.
	// +kubebuilder:validation:MaxLength=512
	Percent string `json:"percent"`
}

// PodUse is the usage of a module's pod while load counted.
type PodUse struct {
	// name is module/<module>/pod-<n>: pods count from 1, ordered by pod.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// pod is the name of the pod.
	// +kubebuilder:validation:MaxLength=512
	Pod string `json:"pod"`
	// node of the pod.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Node string `json:"node,omitempty"`
	// cpu in cores, on average; absent: unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	CPU string `json:"cpu,omitempty"`
	// memory in MiB, on average; absent: unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Memory string `json:"memory,omitempty"`
}
