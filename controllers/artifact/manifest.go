// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/evidence"
)

// Manifest holds the digests of everything that was recorded up to a stage. It is written
// before the report, which prints its digest.
var Manifest Artifact = manifest{Kind{Name: v1alpha1.ArtifactManifest, Title: "the manifest of digests", ConfigMap: naming.Evidence, IsOptional: true}}

type manifest struct{ Kind }

func (manifest) Source(_ *Maker, s *Subject) string {
	if reached, isWorth := s.stage(); isWorth {
		return reached.digest
	}
	return ""
}

// IsStored reports whether there is a manifest of the stage. It is never rewritten: that would hide
// later changes. Once the status has its digest, the ConfigMap is not read again: a user who can
// write ConfigMaps could have replaced its contents.
func (manifest) IsStored(ctx context.Context, m *Maker, s *Subject, source string) (bool, error) {
	status := &s.Experiment.Status
	if last := status.Artifact(v1alpha1.ArtifactManifest); last.Digest == source && last.State == v1alpha1.ArtifactCurrent && status.Evidence != nil {
		return true, nil
	}
	text, of, err := m.manifest(ctx, s.Experiment)
	if err != nil || text == "" || of != source {
		return false, err
	}
	s.reportManifest(evidence.Sum([]byte(text)))
	return true, nil
}

func (manifest) Make(ctx context.Context, m *Maker, s *Subject, source string) (string, error) {
	previous, _, err := m.manifest(ctx, s.Experiment)
	if err != nil {
		return "", err
	}
	full, err := m.FullRuns(ctx, s)
	if err != nil {
		return "", err
	}
	shown, err := m.shownHistory(ctx, s)
	if err != nil {
		return "", err
	}
	digest, err := evidence.HistoryDigest(shown)
	if err != nil {
		return "", err
	}
	reached, _ := s.stage()
	text, err := evidence.NextManifest(previous, s.Experiment, full, evidence.Stage{Blocks: reached.blocks, Ended: reached.ended}, digest)
	if errors.Is(err, evidence.ErrManifest) || errors.Is(err, evidence.ErrTooLarge) {
		return "", unusable(err)
	}
	if err != nil {
		return "", err
	}
	stored := component.EmptyConfigMap(s.Experiment, naming.Evidence(s.Experiment.Name))
	stored.Annotations = map[string]string{v1alpha1.AnnotationReportOf: source}
	stored.Data = map[string]string{evidence.Key: text}
	if err := m.Cluster.ApplyTyped(ctx, stored); err != nil {
		return "", err
	}
	sum := evidence.Sum([]byte(text))
	// Logs are often shipped to a store that users of the namespace cannot write to.
	log.FromContext(ctx).Info("Wrote the manifest of digests", "stage", reached.String(), "sha256", sum)
	s.reportManifest(sum)
	return "", nil
}

// reportManifest records the manifest in the status. The report that prints its digest follows.
func (s *Subject) reportManifest(sum string) {
	named := v1alpha1.ExperimentEvidence{Manifest: naming.Evidence(s.Experiment.Name), SHA256: sum}
	if known := s.Experiment.Status.Evidence; known == nil || known.Manifest != named.Manifest || known.SHA256 != named.SHA256 {
		s.Experiment.Status.Evidence = &named
	}
}

// evidence returns the manifest of the stage; nil: there is none.
func (s *Subject) evidence() *v1alpha1.ExperimentEvidence {
	if s.made[v1alpha1.ArtifactManifest] == "" {
		return nil
	}
	return s.Experiment.Status.Evidence
}

// manifest reads the manifest of an earlier stage, and the digest of that stage; empty if there is
// none. It ignores one of another owner: the API server refuses to overwrite it.
func (m *Maker) manifest(ctx context.Context, experiment *v1alpha1.PerfExperiment) (text, of string, err error) {
	found, err := m.OwnConfigMap(ctx, experiment, naming.Evidence(experiment.Name))
	if err != nil {
		return "", "", fmt.Errorf("reading the manifest of digests: %w", err)
	}
	if found == nil {
		return "", "", nil
	}
	return found.Data[evidence.Key], found.Annotations[v1alpha1.AnnotationReportOf], nil
}

// markEvidence writes the digests of the manifest and of the report into the annotations of the
// report.
func markEvidence(stored *corev1.ConfigMap, kept *v1alpha1.ExperimentEvidence) error {
	if kept == nil {
		return nil
	}
	sum, err := evidence.ContentDigest(stored)
	if err != nil {
		return err
	}
	kept.Report = sum
	stored.Annotations[v1alpha1.AnnotationEvidence] = kept.SHA256 + " " + sum
	return nil
}
