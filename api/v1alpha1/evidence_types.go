// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// RunEvidence is what the results of a run rest on. Digests are SHA-256, in
// hexadecimal.
type RunEvidence struct {
	// payloads are the results that pods printed to their logs, checkpoints of
	// interrupted loads included.
	// +optional
	// +listType=map
	// +listMapKey=pod
	// +kubebuilder:validation:MaxItems=600
	Payloads []PayloadDigest `json:"payloads,omitempty"`
	// kept are the run's ConfigMaps.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Kept []KeptDigest `json:"kept,omitempty"`
	// images of the operator, the collector and the loads, as the container
	// runtime resolved them. Those of modules are in effective.
	// +optional
	// +listType=map
	// +listMapKey=of
	// +listMapKey=imageID
	// +kubebuilder:validation:MaxItems=32
	Images []MetImage `json:"images,omitempty"`
	// rendered are digests of the objects that the operator rendered, by part. They
	// differ between runs of the same arm and scenario if an upgrade of PerfLab
	// renders them differently.
	// +optional
	// +listType=map
	// +listMapKey=of
	// +kubebuilder:validation:MaxItems=32
	Rendered []RenderedDigest `json:"rendered,omitempty"`
	// renderedChange is present if the digests in rendered differ, or may differ,
	// from those of the previous run of the same arm and scenario.
	// +optional
	RenderedChange *RenderedChange `json:"renderedChange,omitempty"`
	// versions at the time of the run.
	// +optional
	Versions MetVersions `json:"versions,omitzero"`
}

// PayloadDigest is the digest of one pod's output.
type PayloadDigest struct {
	// pod that printed it.
	// +kubebuilder:validation:MaxLength=512
	Pod string `json:"pod"`
	// load of the pod; absent: the collector.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Load string `json:"load,omitempty"`
	// sha256 of the payload's unpacked lines, its first line included. Several
	// payloads are concatenated.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
}

// KeptDigest is the digest of a ConfigMap as written.
type KeptDigest struct {
	// name of the ConfigMap.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// sha256 of its keys and values.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
}

// MetImage is an image that ran.
type MetImage struct {
	// of is the image's user: operator, collector, or a load.
	// +kubebuilder:validation:MaxLength=512
	Of string `json:"of"`
	// imageID is the digest that the container runtime resolved.
	// +kubebuilder:validation:MaxLength=1024
	ImageID string `json:"imageID"`
}

// RenderedDigest is the digest of a rendered part of the environment, or of a
// load.
type RenderedDigest struct {
	// of is the part: Kafka, PostgreSQL, the modules, or a load.
	// +kubebuilder:validation:MaxLength=512
	Of string `json:"of"`
	// sha256 of the objects without the run's name.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
}

// RenderedChange is the difference of rendered objects between two runs.
type RenderedChange struct {
	// since is the name of the previous run.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Since string `json:"since,omitempty"`
	// of are the parts that differ, as in rendered; absent: the previous run has no
	// digests.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=512
	Of []string `json:"of,omitempty"`
	// message describes the difference, as in the run's warnings.
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message"`
}

// MetVersions are versions at the time of the run. An absent one is unknown:
// its source does not exist, or the operator may not read it.
type MetVersions struct {
	// perflab is the operator's version.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PerfLab string `json:"perflab,omitempty"`
	// kubernetes is the API server's version.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Kubernetes string `json:"kubernetes,omitempty"`
	// strimzi is the version of the operator that last reconciled Kafka.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Strimzi string `json:"strimzi,omitempty"`
	// cloudNativePG is the version of the operator that created PostgreSQL's
	// pods.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	CloudNativePG string `json:"cloudNativePG,omitempty"`
	// k6Operator is the image of the k6-operator, or the version in its
	// Deployment.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	K6Operator string `json:"k6Operator,omitempty"`
	// k6 is the version in the load generator's results.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	K6 string `json:"k6,omitempty"`
}

// ExperimentEvidence names the manifest that has the experiment's digests.
type ExperimentEvidence struct {
	// manifest is the ConfigMap with the digests of plan, runs and answer. It is
	// written with the report, after each block.
	// +kubebuilder:validation:MaxLength=512
	Manifest string `json:"manifest"`
	// sha256 of the manifest. The report prints it.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
	// report is the digest of the stored report; absent: none.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Report string `json:"report,omitempty"`
}
