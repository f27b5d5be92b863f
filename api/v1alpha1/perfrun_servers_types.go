// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ServersStatus is what was seen of the system's servers while loads were on,
// beside the observations.
type ServersStatus struct {
	// rawSamples names the ConfigMap with all samples.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	RawSamples string `json:"rawSamples,omitempty"`
	// rounds is how often the servers were asked.
	// +optional
	Rounds int32 `json:"rounds,omitempty"`
	// longestGap is the longest time, from the first load's start to the last
	// load's end, for which a source told nothing.
	// +optional
	LongestGap *metav1.Duration `json:"longestGap,omitempty"`
	// interval between two rounds at that time.
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`
	// silent is the source the gap is of: pods, metrics, postgres, kafka,
	// custom/<name> or, where nothing was asked at all, collector.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Silent string `json:"silent,omitempty"`
	// node is the one the collector ran on, which the metrics that begin with
	// node/ are of.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Node string `json:"node,omitempty"`
	// pods are those of each module that has several, at most 16 of a module,
	// with what each used on average while load counted.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=200
	Pods []PodUse `json:"pods,omitempty"`
	// statements are those PostgreSQL spent most time on, the longest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Statements []StatementShare `json:"statements,omitempty"`
	// notes say what could not be measured, and why.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=2048
	Notes []string `json:"notes,omitempty"`
}

// StatementShare is what a statement took of PostgreSQL's time.
type StatementShare struct {
	// server that ran it, for example postgres/primary.
	// +kubebuilder:validation:MaxLength=512
	Server string `json:"server"`
	// text of the statement without its literals, cut to 500 bytes; of a statement
	// that is no query, its command alone.
	// +kubebuilder:validation:MaxLength=1024
	Text string `json:"text"`
	// calls of the statement.
	Calls int64 `json:"calls"`
	// rows it gave or changed.
	Rows int64 `json:"rows"`
	// totalSeconds of all calls.
	// +kubebuilder:validation:MaxLength=512
	TotalSeconds string `json:"totalSeconds"`
	// meanMilliseconds of a call.
	// +kubebuilder:validation:MaxLength=512
	MeanMilliseconds string `json:"meanMilliseconds"`
	// percent of the time of all statements of the server.
	// +kubebuilder:validation:MaxLength=512
	Percent string `json:"percent"`
}

// PodUse is what a pod of a module used while load counted.
type PodUse struct {
	// name is module/<module>/pod-<n>: pods count from 1, in the order of their
	// own names.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// pod is its own name.
	// +kubebuilder:validation:MaxLength=512
	Pod string `json:"pod"`
	// node it ran on.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Node string `json:"node,omitempty"`
	// cpu in cores, on average; absent: not known.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	CPU string `json:"cpu,omitempty"`
	// memory in MiB, on average; absent: not known.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Memory string `json:"memory,omitempty"`
}
