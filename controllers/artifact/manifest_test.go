// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

// A restarted operator doesn't adopt a manifest that was replaced: perflab verify would find nothing.
func TestReplacedManifestIsNotAdopted(t *testing.T) {
	const forged = "forged"
	experiment := objects.Experiment("heap")
	replaced := component.EmptyConfigMap(experiment, naming.Evidence(experiment.Name))
	replaced.Annotations = map[string]string{v1alpha1.AnnotationReportOf: "stage"}
	replaced.Data = map[string]string{evidence.Key: forged}
	for name, c := range map[string]struct {
		known v1alpha1.ArtifactStatus
		want  string
	}{
		"the status has its digest":      {v1alpha1.ArtifactStatus{Digest: "stage", State: v1alpha1.ArtifactCurrent}, "original"},
		"killed before the status write": {v1alpha1.ArtifactStatus{Digest: "earlier", State: v1alpha1.ArtifactCurrent}, evidence.Sum([]byte(forged))},
	} {
		t.Run(name, func(t *testing.T) {
			refuses := false
			m, subject := operator(t, &refuses), experiment.DeepCopy()
			expect.NoError(t, m.Cluster.Client.Create(t.Context(), replaced.DeepCopy()))
			c.known.Name = v1alpha1.ArtifactManifest
			subject.Status.SetArtifact(c.known)
			subject.Status.Evidence = &v1alpha1.ExperimentEvidence{Manifest: replaced.Name, SHA256: "original", Report: "printed"}
			isStored, err := Manifest.IsStored(t.Context(), m, &Subject{Experiment: subject}, "stage")
			expect.NoError(t, err)
			expect.Equal(t, true, isStored, "stored")
			expect.Equal(t, c.want, subject.Status.Evidence.SHA256, "digest in the status")
		})
	}
}
