// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// RunEvidence is what a run's record rests on: what was read, what is kept, and
// what it met. Digests are SHA-256, in hexadecimal.
type RunEvidence struct {
	// payloads are the results that pods printed, as they were read from their
	// logs. Checkpoints of a load that was cut short count as well.
	// +optional
	// +listType=map
	// +listMapKey=pod
	// +kubebuilder:validation:MaxItems=600
	Payloads []PayloadDigest `json:"payloads,omitempty"`
	// kept are the ConfigMaps that go with the run.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Kept []KeptDigest `json:"kept,omitempty"`
	// images that ran beside the system, as the container runtime resolved them.
	// Those of modules are in effective.
	// +optional
	// +listType=map
	// +listMapKey=of
	// +listMapKey=imageID
	// +kubebuilder:validation:MaxItems=32
	Images []MetImage `json:"images,omitempty"`
	// rendered are digests of what the operator made of the declaration, by part. Of
	// two runs of one arm and scenario they differ where PerfLab was upgraded in
	// between and makes something else of it.
	// +optional
	// +listType=map
	// +listMapKey=of
	// +kubebuilder:validation:MaxItems=32
	Rendered []RenderedDigest `json:"rendered,omitempty"`
	// versions the run met.
	// +optional
	Versions MetVersions `json:"versions,omitzero"`
}

// PayloadDigest is what one pod printed.
type PayloadDigest struct {
	// pod that printed it.
	// +kubebuilder:validation:MaxLength=512
	Pod string `json:"pod"`
	// load the pod ran; absent: it is the collector.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Load string `json:"load,omitempty"`
	// sha256 of what the lines of the log carry, unpacked from them: what the
	// line that begins a payload tells, too. Of several payloads that add up, of
	// all, one after the other.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
}

// KeptDigest is a ConfigMap as it was written.
type KeptDigest struct {
	// name of the ConfigMap.
	// +kubebuilder:validation:MaxLength=512
	Name string `json:"name"`
	// sha256 over its keys and what they hold.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
}

// MetImage is an image that ran.
type MetImage struct {
	// of says whose it is: operator, collector, or the load whose runners had it.
	// +kubebuilder:validation:MaxLength=512
	Of string `json:"of"`
	// imageID is what the container runtime resolved the image to.
	// +kubebuilder:validation:MaxLength=1024
	ImageID string `json:"imageID"`
}

// RenderedDigest is what a part of the environment, or a load, was made of.
type RenderedDigest struct {
	// of says which part: Kafka, PostgreSQL, the modules, or a load.
	// +kubebuilder:validation:MaxLength=512
	Of string `json:"of"`
	// sha256 over the objects, without what names the run.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
}

// MetVersions are the versions a run met. One that is absent is not known: what
// tells it is not there, or the operator may not look at it.
type MetVersions struct {
	// perflab is the operator.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	PerfLab string `json:"perflab,omitempty"`
	// kubernetes is the API server.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Kubernetes string `json:"kubernetes,omitempty"`
	// strimzi is the operator that last reconciled Kafka.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Strimzi string `json:"strimzi,omitempty"`
	// cloudNativePG is the operator that made PostgreSQL's pods.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	CloudNativePG string `json:"cloudNativePG,omitempty"`
	// k6Operator is the image of the k6-operator, or its version where its
	// Deployment tells it.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	K6Operator string `json:"k6Operator,omitempty"`
	// k6 is the load generator, as it tells in its results.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	K6 string `json:"k6,omitempty"`
}

// ExperimentEvidence says which manifest holds the experiment's digests.
type ExperimentEvidence struct {
	// manifest names the ConfigMap with the digests of plan, runs and answer. It
	// is written with the report, at the end of each block.
	// +kubebuilder:validation:MaxLength=512
	Manifest string `json:"manifest"`
	// sha256 of the manifest. The report prints it.
	// +kubebuilder:validation:MaxLength=512
	SHA256 string `json:"sha256"`
	// report is the digest of the stored report; absent: none is stored.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Report string `json:"report,omitempty"`
}
