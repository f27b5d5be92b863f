// SPDX-License-Identifier: Apache-2.0

package contents_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob/memblob"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/archive/stores/bucket"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/archives"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// inMemory returns an archive in memory, which no disk slows down.
func inMemory(t *testing.T) *archive.Store {
	t.Helper()
	location, err := archive.ParseLocation("s3://perflab?region=here")
	expect.NoError(t, err)
	return archive.New(&bucket.Bucket{Blob: memblob.OpenBucket(nil)}, location, archive.Options{})
}

// release returns the nth release, a day after the previous one.
func release(n int, users int32) report.Input {
	experiment, runs := recorded.Truth{
		Seed: uint64(n + 1), Blocks: 2, Baseline: 400, Spread: 0.01, Users: users, Image: "users:1", Arms: map[string]float64{"small": 1.2},
		Began: time.Date(2025, time.January, 1+n, 8, 0, 0, 0, time.UTC),
	}.Draw()
	experiment.Namespace, experiment.UID = "lab", types.UID(fmt.Sprintf("uid-%d", n))
	experiment.APIVersion, experiment.Kind = v1alpha1.GroupVersion.String(), "PerfExperiment"
	experiment.Spec.Analysis.Primary = []string{recorded.CheckIn}
	done := metav1.NewTime(runs[len(runs)-1].Status.Timings.LoadStart.Add(time.Hour))
	experiment.Status.CompletionTime = &done
	for i := range runs {
		runs[i].Namespace, runs[i].UID, runs[i].Spec.Experiment = "lab", experiment.UID, experiment.Name
		runs[i].Labels = map[string]string{v1alpha1.LabelExperiment: experiment.Name}
		runs[i].Status.Timings.Finish = &done
	}
	return report.Input{Experiment: *experiment, Runs: runs}
}

// keepInput keeps an experiment and, if there is a change, its runs.
func keepInput(t *testing.T, store *archive.Store, input report.Input, change func(*archive.Record)) archive.Reference {
	t.Helper()
	var runs []archive.Reference
	if change != nil {
		runs = archives.KeepRuns(t, store, &input)
	}
	return archives.Keep(t, store, &input, runs, change)
}

func readHistory(t *testing.T, store *archive.Store, asked contents.HistoryQuery) contents.HistoryData {
	t.Helper()
	found, err := contents.History(t.Context(), store, asked)
	expect.NoError(t, err)
	return found
}

// encodeHistory returns a history as text.
func encodeHistory(t *testing.T, found contents.HistoryData) string {
	t.Helper()
	lines := slices.Clone(found.Notes)
	for i := range found.Measurements {
		text, err := found.Measurements[i].Encode()
		expect.NoError(t, err)
		lines = append(lines, string(text))
	}
	return strings.Join(lines, "\n")
}

// asBefore changes a record to one from before there was an index.
func asBefore(record *archive.Record) {
	record.SeriesEntry = nil
	record.Items = slices.DeleteFunc(record.Items, func(item archive.Item) bool { return item.Kind == "Measured" })
}

// Records from before there was an index are measured from their runs, and have the same
// history as indexed ones.
func TestIndexMeasuresOlderRecords(t *testing.T) {
	before, now := inMemory(t), inMemory(t)
	for n := range 3 {
		input := release(n, 8)
		if n == 1 {
			// Its second arm never ran.
			input.Runs = input.Runs[:1]
		}
		keepInput(t, before, input, asBefore)
		keepInput(t, now, input, func(*archive.Record) {})
	}
	if _, err := contents.History(t.Context(), before, contents.HistoryQuery{Namespace: "lab"}); !errors.Is(err, contents.ErrNoIndex) {
		t.Errorf("without an index: %v", err)
	}
	want := readHistory(t, now, contents.HistoryQuery{Namespace: "lab"})
	for _, sum := range []contents.IndexResult{{Entered: 2, Measured: 2, Incomplete: 1}, {Entered: 2, Incomplete: 1}} {
		if got, err := contents.Index(t.Context(), before); err != nil || got != sum {
			t.Errorf("%+v, %v, want %+v", got, err, sum)
		}
		got := readHistory(t, before, contents.HistoryQuery{Namespace: "lab"})
		if diff := cmp.Diff(encodeHistory(t, want), encodeHistory(t, got)); diff != "" || len(got.Measurements) != 2 {
			t.Errorf("as it was kept at once, and measured later (-at once +later):\n%s", diff)
		}
	}
	if len(want.Notes) != 1 || !strings.Contains(want.Notes[0], "1 experiment of the archive is left out") {
		t.Errorf("notes %q", want.Notes)
	}
}

// Of a long series, only the newest points are read, and a note counts the others.
func TestHistoryReadsNewestPoints(t *testing.T) {
	store := inMemory(t)
	for n := range 305 {
		keepInput(t, store, release(n, 8), nil)
	}
	for n := 305; n < 307; n++ {
		keepInput(t, store, release(n, 16), nil)
	}
	found := readHistory(t, store, contents.HistoryQuery{Namespace: "lab", Experiment: release(7, 8).Experiment.Name, Metrics: []string{recorded.CheckOut}})
	if len(found.Measurements) != 300 || found.Measurements[0].Name != release(5, 8).Experiment.Name || found.Measurements[299].Name != release(304, 8).Experiment.Name {
		t.Errorf("%d are read, from %s on", len(found.Measurements), found.Measurements[0].Name)
	}
	for i := range found.Measurements {
		if metrics := found.Measurements[i].Scenarios[0].Metrics; len(metrics) != 1 || metrics[0].Name != recorded.CheckOut {
			t.Fatalf("in memory are %+v", metrics)
		}
	}
	if want := []string{
		`the first 5 of 305 points of scenario "cico" are left out: the search for changes uses the latest 300`,
		`2 more experiments of the archive declare scenario "cico" differently: results under another load are left out`,
	}; !slices.Equal(found.Notes, want) {
		t.Errorf("notes %q", found.Notes)
	}
	// The experiment that was measured last is in the other series.
	if found := readHistory(t, store, contents.HistoryQuery{Namespace: "lab"}); len(found.Measurements) != 2 || found.Measurements[0].Scenarios[0].Metrics[0].Name != recorded.CheckIn {
		t.Errorf("%+v", found.Measurements)
	}
}

// The item of a point is verified before it is used.
func TestHistoryVerifiesItems(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, path string)
		want error
		says string
	}{
		"other bytes": {func(t *testing.T, path string) {
			t.Helper()
			expect.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
		}, archive.ErrMismatch, "do not match the digest"},
		"nothing": {func(t *testing.T, path string) {
			t.Helper()
			expect.NoError(t, os.Remove(path))
		}, nil, "1 point refers to data that is no longer in the archive"},
	} {
		t.Run(name, func(t *testing.T) {
			store := archives.New(t)
			for n := range 3 {
				keepInput(t, store, release(n, 8), nil)
			}
			for point, err := range store.Points(t.Context(), "lab", "") {
				expect.NoError(t, err)
				if point.ExperimentUID == "uid-1" {
					digits := strings.TrimPrefix(point.Item.String(), "sha256:")
					c.harm(t, filepath.Join(strings.TrimPrefix(store.String(), "file://"), "objects/sha256", digits[:2], digits))
				}
			}
			found, err := contents.History(t.Context(), store, contents.HistoryQuery{Namespace: "lab"})
			if c.want != nil && (!errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("told is %v", err)
			}
			if c.want == nil && (err != nil || len(found.Measurements) != 2 || !strings.Contains(strings.Join(found.Notes, " "), c.says)) {
				t.Errorf("%d are read, %q, %v", len(found.Measurements), found.Notes, err)
			}
		})
	}
	// A point that leads to another namespace's experiment reveals nothing of it.
	store := archives.New(t)
	input := release(0, 8)
	keepInput(t, store, input, nil)
	root := strings.TrimPrefix(store.String(), "file://")
	expect.NoError(t, os.Rename(filepath.Join(root, "series/lab"), filepath.Join(root, "series/other")))
	if _, err := contents.History(t.Context(), store, contents.HistoryQuery{Namespace: "other"}); !errors.Is(err, releases.ErrInvalidEncoding) {
		t.Errorf("another namespace's key: %v", err)
	}
}
