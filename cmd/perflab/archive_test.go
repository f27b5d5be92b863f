// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archived"
	"perflab.dev/perflab/internal/testing/archives"
	"perflab.dev/perflab/internal/testing/recorded"
)

// anArchive in a directory, with one experiment; its URL.
func anArchive(t *testing.T) string {
	t.Helper()
	store := archives.New(t)
	input := recorded.Experiment(7)
	input.Experiment.UID = "6f0f6c1e-0000-4000-8000-000000000001"
	var references []archive.Reference
	for i := range input.Runs {
		run := &input.Runs[i]
		run.UID, run.Status.Timings.Finish = "run", run.Status.Timings.LoadFinish
		record, err := archived.Run(&input.Experiment, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		reference, err := store.Keep(t.Context(), record)
		if err != nil {
			t.Fatal(err)
		}
		references = append(references, reference)
	}
	record, err := archived.Experiment(input, nil, references)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Keep(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	return store.String()
}

func TestArchiveIsListedAndRead(t *testing.T) {
	url := anArchive(t)
	name := recorded.Experiment(7).Experiment.Namespace + "/" + recorded.Experiment(7).Experiment.Name
	listed := perflab(t, "", "archive", "list", "--archive", url)
	if listed.code != 0 || !strings.Contains(listed.out, name) || !strings.Contains(listed.out, "6f0f6c1e-0000-4000-8000-000000000001") {
		t.Fatalf("exit code %d: %s%s", listed.code, listed.out, listed.problems)
	}
	got := perflab(t, "", "archive", "get", name, "--archive", url)
	if got.code != 0 {
		t.Fatalf("exit code %d: %s", got.code, got.problems)
	}
	if page := perflab(t, got.out, "report", "-f", "-", "-o", "md"); page.code != 0 || !strings.Contains(page.out, "## Comparison") {
		t.Errorf("exit code %d: %s", page.code, page.problems)
	}
	for why, arguments := range map[string][]string{
		"experiment \"lab/nothing\"": {"get", "lab/nothing", "--archive", url},
		"write NAMESPACE/NAME":       {"get", "nothing", "--archive", url},
		"--archive is missing":       {"list"},
		"it begins with none of":     {"list", "--archive", "ftp://archive"},
		"there is no directory":      {"list", "--archive", "file:///nowhere/at/all"},
		"older than":                 {"gc", "--grace", "1s", "--archive", url},
	} {
		t.Setenv(archiveVariable, "")
		if got := perflab(t, "", append([]string{"archive"}, arguments...)...); got.code == 0 || !strings.Contains(got.problems, why) {
			t.Errorf("%v ends with %d and says %q, want %q", arguments, got.code, got.problems, why)
		}
	}
}

// What was changed on the way is not taken for true.
func TestArchiveOfOtherBytesIsRefused(t *testing.T) {
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

func TestArchiveTellsWhatWouldGo(t *testing.T) {
	url := anArchive(t)
	got := perflab(t, "", "archive", "gc", "--dry-run", "--archive", url)
	if got.code != 0 || !strings.Contains(got.out, "0 records and 0 objects would go") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.problems)
	}
}
