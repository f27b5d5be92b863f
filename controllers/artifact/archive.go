// SPDX-License-Identifier: Apache-2.0

package artifact

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report"
)

// Archive stores the record of a complete or stalled experiment, with its stored report,
// outside the cluster. Nothing of the experiment is pruned before the archive has stored it.
var Archive Artifact = archived{Kind{Name: v1alpha1.ArtifactArchive, Title: "the archive record"}}

type archived struct{ Kind }

// Source is the digest of the stored report and of the release, which may be set later. A stall
// may be fixed; the next record then replaces this one.
func (archived) Source(m *Maker, s *Subject) string {
	if m.Archives.ForNamespace(s.Experiment.Namespace) == nil || s.made[v1alpha1.ArtifactReport] == "" || !s.isOver() {
		return ""
	}
	reached, _ := s.stage()
	return naming.Hash(s.page(reached), s.Experiment.Annotations[v1alpha1.AnnotationRelease])[:16]
}

// isOver reports whether there is something to archive and no run starts without a user's action.
func (s *Subject) isOver() bool {
	switch s.Experiment.Status.Phase {
	case v1alpha1.ExperimentComplete:
		return true
	case v1alpha1.ExperimentStalled:
		return len(EndedRuns(s.Runs)) > 0
	default:
		return false
	}
}

func (archived) IsStored(_ context.Context, _ *Maker, s *Subject, source string) (bool, error) {
	last := s.Experiment.Status.Artifact(v1alpha1.ArtifactArchive)
	return last.State == v1alpha1.ArtifactCurrent && last.Digest == source, nil
}

func (archived) Make(ctx context.Context, m *Maker, s *Subject, _ string) (string, error) {
	store := m.Archives.ForNamespace(s.Experiment.Namespace)
	record, err := m.archiveRecord(ctx, s, store)
	if err == nil {
		_, err = store.Keep(ctx, record)
	}
	readiness := component.ArchivedReadiness(store)
	if err != nil {
		refused, isArchives := component.ArchiveErrorReadiness(ctx, store, err)
		if !isArchives {
			return "", err
		}
		readiness, err = refused, &unavailableError{refused}
	}
	s.reportArchived(readiness)
	return "", err
}

// reportArchived sets the condition, which names the report and the release of the record.
func (s *Subject) reportArchived(readiness environment.Readiness) {
	if readiness.Ready {
		reached, _ := s.stage()
		readiness.Message += ", with report " + s.page(reached)
		if release := s.Experiment.Annotations[v1alpha1.AnnotationRelease]; release != "" {
			readiness.Message += fmt.Sprintf(", as release %q", releases.Label(release))
		}
	}
	component.ConditionSetter(&s.Experiment.Status.Conditions, s.Experiment.Generation).SetReadiness(v1alpha1.ConditionArchived, readiness)
}

// archiveRecord returns the record of the experiment, with references to those of its runs.
func (m *Maker) archiveRecord(ctx context.Context, s *Subject, store *archive.Store) (archive.Record, error) {
	runs, err := m.archivedRuns(ctx, s, store)
	if err != nil {
		return archive.Record{}, err
	}
	full, err := m.FullRuns(ctx, s)
	if err != nil {
		return archive.Record{}, err
	}
	recorded := report.Input{Experiment: *s.Experiment.DeepCopy(), Runs: EndedRuns(full)}
	withoutDelivery(&recorded.Experiment.Status)
	if recorded.Manifest, err = m.OwnConfigMap(ctx, s.Experiment, naming.Evidence(s.Experiment.Name)); err != nil {
		return archive.Record{}, fmt.Errorf("reading the manifest of digests: %w", err)
	}
	if recorded.Notes, err = kube.Notes(ctx, m.Live, s.Experiment); err != nil {
		return archive.Record{}, err
	}
	if recorded.History, err = m.OwnConfigMap(ctx, s.Experiment, naming.History(s.Experiment.Name)); err != nil {
		return archive.Record{}, fmt.Errorf("reading the history: %w", err)
	}
	stored, err := m.OwnConfigMap(ctx, s.Experiment, naming.Report(s.Experiment.Name))
	if err != nil {
		return archive.Record{}, fmt.Errorf("reading the stored report: %w", err)
	}
	return contents.ExperimentRecord(recorded, stored, runs)
}

// withoutDelivery drops the results of attempts to archive and to announce: otherwise each
// attempt would change the record.
func withoutDelivery(status *v1alpha1.PerfExperimentStatus) {
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionArchived)
	meta.RemoveStatusCondition(&status.Conditions, v1alpha1.ConditionAnnounced)
	status.Announcement = nil
	status.Artifacts = slices.DeleteFunc(status.Artifacts, func(made v1alpha1.ArtifactStatus) bool {
		return made.Name == v1alpha1.ArtifactArchive || made.Name == v1alpha1.ArtifactAnnouncement
	})
}

// archivedRuns returns the references to all finished runs. It archives runs that are not
// archived yet. A run whose status could not be written after archiving has several records:
// archiving it again finds the right one and writes nothing new.
func (m *Maker) archivedRuns(ctx context.Context, s *Subject, store *archive.Store) ([]archive.Reference, error) {
	known := map[string][]archive.Reference{}
	for reference, err := range store.Runs(ctx, contents.ExperimentIdentity(s.Experiment)) {
		if err != nil {
			return nil, err
		}
		known[reference.Run] = append(known[reference.Run], reference)
	}
	ended := EndedRuns(s.Runs)
	if slices.ContainsFunc(ended, func(run v1alpha1.PerfRun) bool { return len(known[run.Name]) != 1 }) {
		full, err := m.FullRuns(ctx, s)
		if err != nil {
			return nil, err
		}
		ended = EndedRuns(full)
	}
	references := make([]archive.Reference, 0, len(ended))
	for i := range ended {
		if own := known[ended[i].Name]; len(own) == 1 {
			references = append(references, own[0])
			continue
		}
		reference, err := m.ArchiveRun(ctx, s.Experiment, &ended[i])
		if err != nil {
			return nil, err
		}
		references = append(references, reference)
	}
	return references, nil
}
