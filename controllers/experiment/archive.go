// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report"
)

// keepInArchive keeps an experiment that is complete, or goes no further, in the archive,
// with its stored report: once for each. Its runs are there, each since it ended; those that ended before there was an
// archive are kept now. While the archive does not take it, the condition tells why, and
// nothing of the experiment is taken away.
func (r *Reconciler) keepInArchive(ctx context.Context, s *scope) error {
	store := r.Archives.Of(s.experiment.Namespace)
	if !s.awaitsArchive(store) {
		return nil
	}
	record, err := r.record(ctx, s)
	if err == nil {
		_, err = store.Keep(ctx, record)
	}
	readiness := component.ArchivedReadiness(store)
	readiness.Message += s.archiveMark()
	if err != nil {
		refused, known := component.ArchiveErrorReadiness(ctx, store, err)
		if !known {
			return err
		}
		readiness = refused
		s.again(component.ArchiveRetryInterval)
	}
	status := &s.experiment.Status
	component.ConditionSetter(&status.Conditions, s.experiment.Generation).SetReadiness(v1alpha1.ConditionArchived, readiness)
	return nil
}

// archiveMark ends what the condition says with the report that was kept, and the release
// that the experiment was said to measure, so that others are kept as well.
func (s *scope) archiveMark() string {
	mark := fmt.Sprintf(", with report %s", s.reported)
	if release := s.experiment.Annotations[v1alpha1.AnnotationRelease]; release != "" {
		mark += fmt.Sprintf(", as release %q", releases.Label(release))
	}
	return mark
}

// awaitsArchive: the experiment is complete or goes no further, its report is stored, and
// the archive does not have it with that report and that release. A stall ends where
// somebody mends what it is due to; the record that follows then stands in its place.
func (s *scope) awaitsArchive(store *archive.Store) bool {
	if store == nil || s.reported == "" || !s.isOver() {
		return false
	}
	kept := meta.FindStatusCondition(s.experiment.Status.Conditions, v1alpha1.ConditionArchived)
	return kept == nil || kept.Status != metav1.ConditionTrue || !strings.HasSuffix(kept.Message, s.archiveMark())
}

// isOver: there is what can be kept, and nothing more comes of itself.
func (s *scope) isOver() bool {
	switch s.experiment.Status.Phase {
	case v1alpha1.ExperimentComplete:
		return true
	case v1alpha1.ExperimentStalled:
		return len(endedOf(s.runs)) > 0
	default:
		return false
	}
}

// record of the experiment, with references to those of its runs.
func (r *Reconciler) record(ctx context.Context, s *scope) (archive.Record, error) {
	runs, err := r.archivedRuns(ctx, s)
	if err != nil {
		return archive.Record{}, err
	}
	full, err := r.fullRuns(ctx, s)
	if err != nil {
		return archive.Record{}, err
	}
	recorded := report.Input{Experiment: *s.experiment.DeepCopy(), Runs: endedOf(full)}
	// What is told of earlier tries would make another record of each.
	meta.RemoveStatusCondition(&recorded.Experiment.Status.Conditions, v1alpha1.ConditionArchived)
	// Whom it was told is none of what was measured.
	meta.RemoveStatusCondition(&recorded.Experiment.Status.Conditions, v1alpha1.ConditionAnnounced)
	recorded.Experiment.Status.Announcement = nil
	if recorded.Manifest, err = r.ownConfigMap(ctx, s.experiment, naming.Evidence(s.experiment.Name)); err != nil {
		return archive.Record{}, fmt.Errorf("reading the manifest of digests: %w", err)
	}
	if recorded.Notes, err = kube.Notes(ctx, r.Live, s.experiment); err != nil {
		return archive.Record{}, err
	}
	if recorded.History, err = r.ownConfigMap(ctx, s.experiment, naming.History(s.experiment.Name)); err != nil {
		return archive.Record{}, fmt.Errorf("reading what is kept of the history: %w", err)
	}
	stored, err := r.ownConfigMap(ctx, s.experiment, naming.Report(s.experiment.Name))
	if err != nil {
		return archive.Record{}, fmt.Errorf("reading the stored report: %w", err)
	}
	return contents.Experiment(recorded, stored, runs)
}

// archivedRuns are the references to all runs that are over. What is not kept yet is
// kept now. Of a run whose status could not be written when it had been archived there are
// several: keeping it as it is now tells which one is right, and writes nothing new.
func (r *Reconciler) archivedRuns(ctx context.Context, s *scope) ([]archive.Reference, error) {
	known := map[string][]archive.Reference{}
	for reference, err := range r.Archives.Of(s.experiment.Namespace).Runs(ctx, contents.IdentityOf(s.experiment)) {
		if err != nil {
			return nil, err
		}
		known[reference.Run] = append(known[reference.Run], reference)
	}
	ended := endedOf(s.runs)
	if slices.ContainsFunc(ended, func(run v1alpha1.PerfRun) bool { return len(known[run.Name]) != 1 }) {
		full, err := r.fullRuns(ctx, s)
		if err != nil {
			return nil, err
		}
		ended = endedOf(full)
	}
	references := make([]archive.Reference, 0, len(ended))
	for i := range ended {
		if own := known[ended[i].Name]; len(own) == 1 {
			references = append(references, own[0])
			continue
		}
		reference, err := r.ArchiveRun(ctx, s.experiment, &ended[i])
		if err != nil {
			return nil, err
		}
		references = append(references, reference)
	}
	return references, nil
}
