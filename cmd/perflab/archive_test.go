// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/archives"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// anArchive creates an archive with one experiment in a directory, and returns
// its URL.
func anArchive(t *testing.T) string {
	t.Helper()
	store := archives.New(t)
	input := recorded.Experiment(7)
	input.Experiment.UID = "6f0f6c1e-0000-4000-8000-000000000001"
	for i := range input.Runs {
		run := &input.Runs[i]
		run.UID, run.Status.Timings.Finish = "run", run.Status.Timings.LoadFinish
	}
	archives.Keep(t, store, &input, archives.KeepRuns(t, store, &input), nil)
	return store.String()
}

// releasesArchive has the experiments of twoYears, each with a UID.
func releasesArchive(t *testing.T) (*archive.Store, []report.Input) {
	t.Helper()
	store, inputs := archives.New(t), twoYears()
	for i := range inputs {
		keepInput(t, store, &inputs[i], fmt.Sprintf("6f0f6c1e-0000-4000-8000-%012d", i))
	}
	return store, inputs
}

// keepInput archives an experiment and its runs.
func keepInput(t *testing.T, store *archive.Store, input *report.Input, uid string) archive.Reference {
	t.Helper()
	input.Experiment.UID = types.UID(uid)
	for i := range input.Runs {
		run := &input.Runs[i]
		run.UID = types.UID(uid)
		ended := metav1.NewTime(run.Status.Timings.LoadStart.Add(time.Hour))
		run.Status.Timings.Finish = &ended
	}
	return archives.Keep(t, store, input, archives.KeepRuns(t, store, input), nil)
}

// The history of an archive equals that of the exported experiments.
func TestHistoryOfAnArchive(t *testing.T) {
	store, inputs := releasesArchive(t)
	want := perflab(t, "", "history", releasesFile)
	for _, named := range []string{"lab", "lab/" + inputs[3].Experiment.Name} {
		got := perflab(t, "", "history", "--archive", store.String(), named)
		if got.code != 0 || got.out != want.out {
			t.Errorf("%s: exit code %d, %s\n%s\nwant\n%s", named, got.code, got.problems, got.out, want.out)
		}
	}
	narrow := []string{"--arm", "small", "--metric", recorded.CheckIn, "--scenario", "cico", "-o", "json"}
	one := perflab(t, "", append([]string{"history", "--archive", store.String(), "lab"}, narrow...)...)
	if same := perflab(t, "", append([]string{"history", releasesFile}, narrow...)...); one.code != 0 || one.out != same.out {
		t.Errorf("exit code %d: %s\n%s", one.code, one.problems, one.out)
	}
	for why, arguments := range map[string][]string{
		"name one experiment as NAMESPACE/NAME":    {"lab", "other", "--archive", store.String()},
		"has no experiment of namespace":           {"elsewhere", "--archive", store.String()},
		"does not have experiment":                 {"lab/absent", "--archive", store.String()},
		"does not have scenario absent, only cico": {"lab", "--scenario", "absent", "--archive", store.String()},
		"there is no directory":                    {"lab", "--archive", "file:///nowhere/at/all"},
	} {
		if got := perflab(t, "", append([]string{"history"}, arguments...)...); got.code == 0 || !strings.Contains(got.problems, why) {
			t.Errorf("%v ends with %d and says %q, want %q", arguments, got.code, got.problems, why)
		}
	}
}

// An archive without an index is reported, and index adds it.
func TestArchiveIndexAddsOldRecords(t *testing.T) {
	store, _ := releasesArchive(t)
	root := strings.TrimPrefix(store.String(), "file://")
	want := perflab(t, "", "history", "--archive", store.String(), "lab")
	index := filesBelow(t, filepath.Join(root, "series"))
	expect.NoError(t, os.RemoveAll(filepath.Join(root, "series")))
	if got := perflab(t, "", "history", "--archive", store.String(), "lab"); got.code == 0 || !strings.Contains(got.problems, "perflab archive index") {
		t.Errorf("without an index it ends with %d and says %q", got.code, got.problems)
	}
	made := perflab(t, "", "archive", "index", "--archive", store.String())
	if made.code != 0 || made.out != "12 experiments are in the index, 0 of them with a new record; 0 experiments have no complete block\n" {
		t.Errorf("exit code %d: %s%s", made.code, made.out, made.problems)
	}
	if got := filesBelow(t, filepath.Join(root, "series")); len(got) != 12 || !maps.Equal(index, got) {
		t.Errorf("the rebuilt index is %v, want %v", got, index)
	}
	// Delete everything but the objects.
	for _, lost := range []string{"series", "runs", "experiments"} {
		expect.NoError(t, os.RemoveAll(filepath.Join(root, lost)))
	}
	made = perflab(t, "", "archive", "index", "--from-objects", "--archive", store.String())
	if made.code != 0 || !strings.HasPrefix(made.out, "References restored for 156 records; 0 records incomplete") {
		t.Errorf("exit code %d: %s%s", made.code, made.out, made.problems)
	}
	if got := filesBelow(t, filepath.Join(root, "series")); !maps.Equal(index, got) {
		t.Errorf("the rebuilt index is %v, want %v", got, index)
	}
	if got := perflab(t, "", "history", "--archive", store.String(), "lab"); got.out != want.out {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.problems)
	}
}

func filesBelow(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, root)] = string(body)
		return err
	})
	expect.NoError(t, err)
	return found
}

// An experiment that is archived again keeps the time of its completion: the record
// that was written last is read, whatever its digest.
func TestArchiveGetReadsNewestRecord(t *testing.T) {
	store, inputs := releasesArchive(t)
	input := inputs[5]
	name := "lab/" + input.Experiment.Name
	for _, text := range []string{"one", "two", "three", "two", "one", "four"} {
		input.Experiment.Spec.Notes = []v1alpha1.Note{{Name: "after", Text: text}}
		input.Experiment.Annotations = map[string]string{v1alpha1.AnnotationRelease: text}
		keepInput(t, store, &input, string(input.Experiment.UID))
		got := perflab(t, "", "archive", "get", name, "--archive", store.String())
		got.ends(0).shows("text: " + text)
		if told := perflab(t, "", "history", "--archive", store.String(), "lab", "--arm", "base"); strings.Count(told.out, "\n  "+text+" ") != 2 || strings.Contains(told.out, "2025.6") {
			t.Errorf("after %q the history is\n%s%s", text, told.out, told.problems)
		}
	}
	if listed := perflab(t, "", "archive", "list", name, "--archive", store.String()); strings.Count(listed.out, name) != 1 {
		t.Errorf("listed is\n%s", listed.out)
	}
}

func TestArchiveListAndGet(t *testing.T) {
	url := anArchive(t)
	name := recorded.Experiment(7).Experiment.Namespace + "/" + recorded.Experiment(7).Experiment.Name
	listed := perflab(t, "", "archive", "list", "--archive", url)
	listed.ends(0).shows(name, "6f0f6c1e-0000-4000-8000-000000000001")
	got := perflab(t, "", "archive", "get", name, "--archive", url)
	got.ends(0)
	perflab(t, got.out, "report", "-f", "-", "-o", "md").ends(0).shows("## Comparison")
	for why, arguments := range map[string][]string{
		"experiment \"lab/nothing\"": {"get", "lab/nothing", "--archive", url},
		"write NAMESPACE/NAME":       {"get", "nothing", "--archive", url},
		"--archive is missing":       {"list"},
		"its scheme is none of":      {"list", "--archive", "ftp://archive"},
		"there is no directory":      {"list", "--archive", "file:///nowhere/at/all"},
		"grace period must be":       {"gc", "--grace", "1s", "--archive", url},
	} {
		t.Setenv("PERFLAB_ARCHIVE", "")
		if got := perflab(t, "", append([]string{"archive"}, arguments...)...); got.code == 0 || !strings.Contains(got.problems, why) {
			t.Errorf("%v ends with %d and says %q, want %q", arguments, got.code, got.problems, why)
		}
	}
}

// Changed objects are detected.
func TestArchiveGetRefusesChangedObjects(t *testing.T) {
	url := anArchive(t)
	changed := 0
	err := filepath.Walk(filepath.Join(strings.TrimPrefix(url, "file://"), "objects"), func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || info.Size() < 2000 {
			return err
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		body[len(body)/2] ^= 1
		changed++
		return os.WriteFile(path, body, 0o600)
	})
	if err != nil || changed == 0 {
		t.Fatalf("%d objects were changed, %v", changed, err)
	}
	name := recorded.Experiment(7).Experiment.Namespace + "/" + recorded.Experiment(7).Experiment.Name
	if got := perflab(t, "", "archive", "get", name, "--archive", url); got.code == 0 || got.out != "" || !strings.Contains(got.problems, "other bytes") && !strings.Contains(got.problems, "digest") {
		t.Errorf("exit code %d, %d bytes: %s", got.code, len(got.out), got.problems)
	}
}

func TestArchiveDelete(t *testing.T) {
	store, inputs := releasesArchive(t)
	name := inputs[3].Experiment.Namespace + "/" + inputs[3].Experiment.Name
	remade := inputs[3]
	keepInput(t, store, &remade, "6f0f6c1e-0000-4000-8000-999999999999")
	of := func(arguments ...string) answer {
		return perflab(t, "", append([]string{"archive", "delete", name, "--archive", store.String()}, arguments...)...)
	}
	if got := of(); got.code == 0 || got.out != "" || !strings.Contains(got.problems, "select one with --uid: ") {
		t.Errorf("of two of a name: exit code %d: %s%s", got.code, got.out, got.problems)
	}
	if got := of("--uid", "other"); got.code == 0 || !strings.Contains(got.problems, "perflab archive list") {
		t.Errorf("one that is not there: exit code %d: %s", got.code, got.problems)
	}
	const uid = "6f0f6c1e-0000-4000-8000-999999999999"
	would := of("--uid", uid, "--dry-run")
	gone := of("--uid", uid)
	if gone.code != 0 || strings.Count(gone.out, uid) < 3 || strings.ReplaceAll(would.out, "would be deleted", "deleted") != gone.out {
		t.Errorf("exit code %d:\n%s%s\nwhere a dry run said\n%s", gone.code, gone.out, gone.problems, would.out)
	}
	of("--dry-run").ends(0).shows("references would be deleted")
	want := perflab(t, "", "history", releasesFile)
	if got := perflab(t, "", "history", "--archive", store.String(), "lab"); got.code != 0 || got.out != want.out {
		t.Errorf("the history without it: exit code %d: %s%s", got.code, got.out, got.problems)
	}
}

func TestArchivePruneDryRun(t *testing.T) {
	url := anArchive(t)
	got := perflab(t, "", "archive", "gc", "--dry-run", "--archive", url)
	got.ends(0).shows("0 records and 0 objects would be deleted")
}
