// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/runs/evidence"
	"perflab.dev/perflab/internal/testing/archives"
	"perflab.dev/perflab/internal/testing/expect"
)

// attic is an archive in a directory, with injected faults.
type attic struct {
	archive.Bucket
	// broken is the error of each write; nil: none. others returns other bytes.
	broken error
	others bool
	// full is the number of writes until it is full; below zero: no limit.
	full int
}

func (s *attic) Write(ctx context.Context, key string, body []byte, how archive.WriteOptions) error {
	switch {
	case s.broken != nil:
		return s.broken
	case s.full == 0:
		return syscall.ENOSPC
	}
	s.full--
	return s.Bucket.Write(ctx, key, body, how)
}

func (s *attic) Read(ctx context.Context, key string, most int64) ([]byte, archive.Object, error) {
	body, object, err := s.Bucket.Read(ctx, key, most)
	if s.others && len(body) > 0 {
		body = slices.Clone(body)
		body[len(body)/2] ^= 1
	}
	return body, object, err
}

// withArchive adds an archive to the lab.
func withArchive(l *lab) *attic {
	l.t.Helper()
	location, opened := archives.Directory(l.t)
	kept := &attic{Bucket: opened, full: -1}
	l.archive = archive.New(kept, location, archive.Options{})
	return kept
}

// archivedExperiment is the archived record of the only experiment.
func (l *lab) archivedExperiment() report.Input {
	l.t.Helper()
	var found []archive.Reference
	for kept, err := range l.archive.Current(l.t.Context(), archive.ExperimentsPrefix) {
		expect.NoError(l.t, err)
		found = append(found, kept.Reference)
	}
	if len(found) != 1 {
		l.t.Fatalf("the archive has records of %d experiments, want one: %v", len(found), found)
	}
	input, err := contents.Read(l.t.Context(), l.archive, found[0])
	expect.NoError(l.t, err)
	return input
}

func (l *lab) archivedCondition(conditions []metav1.Condition) metav1.Condition {
	return ptr.Deref(meta.FindStatusCondition(conditions, v1alpha1.ConditionArchived), metav1.Condition{})
}

// The archive returns the recorded data, with valid digests, after the deletion of the cluster's
// objects. The operator is killed at every write.
func TestArchiveMatchesCluster(t *testing.T) {
	l := newLab(t, complete)
	withArchive(l)
	l.line.fate = alternate(lost, unanswered)
	l.settled(twoBlocks)
	for _, run := range l.runs() {
		if reported := l.archivedCondition(run.Status.Conditions); reported.Status != metav1.ConditionTrue || !strings.Contains(reported.Message, l.archive.String()) {
			t.Errorf("run %s reports about the archive: %+v", run.Name, reported)
		}
	}
	stored := l.configMap("small-report")
	if _, there := stored.BinaryData[report.KeyCSV]; there || stored.Annotations[v1alpha1.AnnotationLeftOut] != report.KeyCSV || len(stored.BinaryData[report.KeyHTML]) == 0 {
		t.Errorf("the stored report has the numbers: %t, and names %q", there, stored.Annotations[v1alpha1.AnnotationLeftOut])
	}
	// The release is often added later.
	l.ask(func(e *v1alpha1.PerfExperiment) {
		e.Annotations = map[string]string{v1alpha1.AnnotationRelease: "2026.1"}
	})
	l.until("an archive with the release", func() bool {
		return strings.HasSuffix(l.archivedCondition(l.experiment("small").Status.Conditions).Message, `, as release "2026.1"`)
	})
	expect.NoError(t, l.admin.Delete(t.Context(), l.experiment("small")))
	l.until("the experiment to be deleted", func() bool { return len(l.experiments()) == 0 })
	series, err := contents.History(t.Context(), l.archive, contents.HistoryQuery{Namespace: l.namespace})
	if err != nil || len(series.Measurements) != 1 || series.Measurements[0].Release != "2026.1" || series.Measurements[0].Blocks != 2 || len(series.Notes) > 0 {
		t.Errorf("the archive has the series %+v, %v", series, err)
	}
	kept := l.archivedExperiment()
	if len(kept.Runs) != 2 || len(kept.Raw) != 2 || kept.Manifest == nil {
		t.Fatalf("the archive has %d runs, %d raw results, manifest %t", len(kept.Runs), len(kept.Raw), kept.Manifest != nil)
	}
	found, err := kept.Evidence()
	expect.NoError(t, err)
	result, err := evidence.Verify(*found)
	if err != nil || len(result.Broken) > 0 || result.Followed[evidence.KindRecord] != 2 || result.Followed[evidence.KindRawResults] != 2 || result.Followed[evidence.KindHistory] != 1 {
		t.Errorf("the chain of what was archived: %+v, %v", result, err)
	}
}

// A run whose status could not be written after archiving is archived again, and the experiment
// uses the record of the run's final status.
func TestArchiveUsesFinalRunStatuses(t *testing.T) {
	for try := range 4 {
		t.Run(strconv.Itoa(try), func(t *testing.T) {
			l := newLab(t, complete)
			withArchive(l)
			l.create(login(), smallExperiment(t, oneArm))
			l.until("a run", func() bool { return len(l.runs()) == 1 })
			lost := l.run().DeepCopy()
			lost.Status.Phase, lost.Status.Timings.Finish = v1alpha1.RunSucceeded, &metav1.Time{Time: l.now.Add(time.Duration(try) * time.Second)}
			record, err := contents.RunRecord(l.experiment("small"), lost, nil)
			expect.NoError(t, err)
			if _, err := l.archive.Keep(t.Context(), record); err != nil {
				t.Fatal(err)
			}
			l.until("an experiment that has settled", func() bool { return l.experiment("small").Status.Settled != "" })
			if kept := l.archivedExperiment(); len(kept.Runs) != 1 || !kept.Runs[0].Status.Timings.Finish.Equal(l.run().Status.Timings.Finish) {
				t.Errorf("the experiment rests on %d runs, the first of which finished at %s, want %s", len(kept.Runs), kept.Runs[0].Status.Timings.Finish, l.run().Status.Timings.Finish)
			}
		})
	}
}

// While the archive refuses a run, the run is not finished, and reports why; nothing is lost, and it
// continues automatically.
func TestRunWaitsForArchive(t *testing.T) {
	for name, tc := range map[string]struct {
		trouble func(*attic)
		reason  string
		message string
	}{
		"away":        {func(s *attic) { s.broken = syscall.ECONNREFUSED }, v1alpha1.ReasonArchiveUnavailable, "the store refuses the connection"},
		"forbidden":   {func(s *attic) { s.broken = syscall.EACCES }, v1alpha1.ReasonArchiveForbidden, "may not read or write"},
		"full":        {func(s *attic) { s.full = 1 }, v1alpha1.ReasonArchiveFull, "no space left"},
		"other bytes": {func(s *attic) { s.others = true }, v1alpha1.ReasonArchiveMismatch, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			kept := withArchive(l)
			tc.trouble(kept)
			l.create(login(), smallExperiment(t, oneArm))
			l.until("a run that waits", func() bool {
				return len(l.runs()) > 0 && l.archivedCondition(l.run().Status.Conditions).Reason == tc.reason
			})
			waiting := l.run()
			if reported := l.archivedCondition(waiting.Status.Conditions); reported.Status != metav1.ConditionFalse || !strings.Contains(reported.Message, tc.message) {
				t.Errorf("it reports about the archive: %+v", reported)
			}
			if waiting.Status.Phase.IsFinal() || !strings.Contains(waiting.Status.Message, "waiting to archive the results") || waiting.Status.RawResults == "" {
				t.Errorf("it is %s: %s", waiting.Status.Phase, waiting.Status.Message)
			}
			for range 30 {
				l.settle()
				l.now = l.now.Add(hours(1).Duration)
			}
			if run := l.run(); run.Status.Phase.IsFinal() || run.UID != waiting.UID || run.Status.Message != waiting.Status.Message {
				t.Errorf("after a day it is %s: %s\nand was: %s", run.Status.Phase, run.Status.Message, waiting.Status.Message)
			}
			kept.broken, kept.full, kept.others = nil, -1, false
			done := l.untilPhase("small", v1alpha1.ExperimentComplete)
			if done.Status.Runs.Invalid != 0 {
				t.Errorf("runs %+v", done.Status.Runs)
			}
			l.until("an experiment that has settled", func() bool { return l.experiment("small").Status.Settled != "" })
			if input := l.archivedExperiment(); len(input.Runs) != 1 {
				t.Errorf("the archive has %d runs", len(input.Runs))
			}
			if stored := objectsIn(t, l.archive); stored != objectsOfOneRun {
				t.Errorf("the archive has %d objects of a run that was tried again and again, and its experiment, want %d", stored, objectsOfOneRun)
			}
		})
	}
}

// objectsOfOneRun counts a run's record, its raw results and its manifest, and of its experiment
// the record, the digests, the comparison with earlier ones, the report, the plan, the data for a
// history and the manifest.
const objectsOfOneRun = 10

func objectsIn(t *testing.T, kept *archive.Store) int {
	t.Helper()
	collected, err := kept.Collect(t.Context(), archive.CollectionPolicy{DryRun: true}, nil)
	expect.NoError(t, err)
	return collected.Objects + collected.ObjectsKept
}

// An invalid run is archived as well, in its namespace's own archive if there is one.
func TestInvalidRunIsArchived(t *testing.T) {
	l := newLab(t, complete)
	withArchive(l)
	own, standard := l.archive, archives.New(t)
	l.archive, l.archives = standard, map[string]*archive.Store{l.namespace: own, "another": nil}
	l.outside.exit["cico"] = 107
	l.create(login(), smallExperiment(t, oneArm))
	invalid := l.untilRun(v1alpha1.RunInvalid)
	kept := 0
	for reference, err := range own.List(t.Context(), archive.RunsPrefix) {
		expect.NoError(t, err)
		if reference.Run == invalid.Name {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("the archive has %d records of run %s", kept, invalid.Name)
	}
	if stored := objectsIn(t, standard); stored > 0 {
		t.Errorf("the archive of other namespaces has %d objects", stored)
	}
}

// A stalled experiment is archived as it is, with its runs, and again with its results once the
// cause is fixed.
func TestStalledExperimentIsArchived(t *testing.T) {
	l := newLab(t, complete)
	withArchive(l)
	l.outside.exit["cico"] = 107
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 1 }))
	l.untilPhase("small", v1alpha1.ExperimentStalled)
	l.settle()
	if kept := l.archivedExperiment(); len(kept.Runs) != 1 || kept.Experiment.Status.Phase != v1alpha1.ExperimentStalled {
		t.Fatalf("the archive has it %s, with %d runs", kept.Experiment.Status.Phase, len(kept.Runs))
	}
	l.outside.exit["cico"] = 0
	expect.NoError(t, l.admin.Delete(t.Context(), l.run()))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.settle()
	if kept := l.archivedExperiment(); len(kept.Runs) != 1 || kept.Experiment.Status.Phase != v1alpha1.ExperimentComplete || kept.Runs[0].Status.Phase != v1alpha1.RunSucceeded {
		t.Errorf("the archive has it %s, with %d runs", kept.Experiment.Status.Phase, len(kept.Runs))
	}
}

// Nothing of an experiment is deleted before it is archived, and results from before the archive
// existed are archived, too.
func TestNothingIsPrunedBeforeArchiving(t *testing.T) {
	l := newLab(t, complete)
	l.settled(withRetention(v1alpha1.Retention{RawResults: hours(24)}))
	kept := withArchive(l)
	kept.broken = errors.New("somewhere else")
	l.ask(func(e *v1alpha1.PerfExperiment) {
		e.Spec.Notes = []v1alpha1.Note{{Name: "after", Text: "What we saw."}}
	})
	l.now = l.experiment("small").Status.CompletionTime.Add(hours(25).Duration)
	l.settle()
	if reported := l.archivedCondition(l.experiment("small").Status.Conditions); reported.Reason != v1alpha1.ReasonArchiveUnavailable || len(l.rawResults()) == 0 {
		t.Errorf("archive condition: %+v; %d raw results are left", reported, len(l.rawResults()))
	}
	kept.broken = nil
	l.until("raw results to be deleted", func() bool { return len(l.rawResults()) == 0 })
	if input := l.archivedExperiment(); len(input.Runs) != 1 || len(input.Raw) == 0 {
		t.Errorf("the archive has %d runs and %d raw results", len(input.Runs), len(input.Raw))
	}
}
