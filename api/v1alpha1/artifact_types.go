// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// ArtifactName is the kind of an artifact.
// +kubebuilder:validation:Enum=Analysis;History;Manifest;Report;Archive;Announcement
type ArtifactName string

// The artifacts, in the order of their creation.
const (
	ArtifactAnalysis     ArtifactName = "Analysis"
	ArtifactHistory      ArtifactName = "History"
	ArtifactManifest     ArtifactName = "Manifest"
	ArtifactReport       ArtifactName = "Report"
	ArtifactArchive      ArtifactName = "Archive"
	ArtifactAnnouncement ArtifactName = "Announcement"
)

// ArtifactState is how an attempt to make an artifact ended.
// +kubebuilder:validation:Enum=Current;Failed;Refused;Unavailable
type ArtifactState string

const (
	// ArtifactCurrent means that the artifact was made from the source with the digest.
	ArtifactCurrent ArtifactState = "Current"
	// ArtifactFailed means that the artifact can't be made from this source. The operator
	// retries when the source changes.
	ArtifactFailed ArtifactState = "Failed"
	// ArtifactRefused means that the API server, or the owner of an object, refuses the artifact. The
	// operator retries.
	ArtifactRefused ArtifactState = "Refused"
	// ArtifactUnavailable means that the server that takes the artifact is unavailable or refuses it.
	// The operator retries.
	ArtifactUnavailable ArtifactState = "Unavailable"
)

// ArtifactStatus describes an artifact that the operator makes from an experiment's records.
type ArtifactStatus struct {
	// name is the kind of the artifact.
	// +required
	Name ArtifactName `json:"name"`

	// digest of the source, also of one that failed.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Digest string `json:"digest,omitempty"`

	// state is Current, Failed, Refused or Unavailable.
	// +required
	State ArtifactState `json:"state"`

	// reason is the cause in CamelCase.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Reason string `json:"reason,omitempty"`

	// message describes what the artifact lacks, or why it could not be made.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Message string `json:"message,omitempty"`
}

// Artifact returns the artifact with the name, or one with only the name.
func (s *PerfExperimentStatus) Artifact(name ArtifactName) ArtifactStatus {
	for _, known := range s.Artifacts {
		if known.Name == name {
			return known
		}
	}
	return ArtifactStatus{Name: name}
}

// SetArtifact adds an artifact, or replaces the one with its name.
func (s *PerfExperimentStatus) SetArtifact(made ArtifactStatus) {
	for i := range s.Artifacts {
		if s.Artifacts[i].Name == made.Name {
			s.Artifacts[i] = made
			return
		}
	}
	s.Artifacts = append(s.Artifacts, made)
}
