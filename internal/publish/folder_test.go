// SPDX-License-Identifier: Apache-2.0

package publish_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/internal/publish"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// measured returns the report of an experiment with this name and UID, measured this much later.
func measured(t *testing.T, name string, uid types.UID, later time.Duration, change ...func(*report.Input)) *report.Report {
	t.Helper()
	input := recorded.Experiment(1)
	input.Experiment.Name, input.Experiment.UID = name, uid
	for i := range input.Runs {
		input.Runs[i].Spec.Experiment = name
		timings := &input.Runs[i].Status.Timings
		if timings.LoadFinish != nil {
			moved := metav1.NewTime(timings.LoadFinish.Add(later))
			timings.LoadFinish = &moved
		}
	}
	for _, one := range change {
		one(&input)
	}
	document, err := report.New(input)
	expect.NoError(t, err)
	return document
}

// asked sets the question of an experiment.
func asked(question string) func(*report.Input) {
	return func(input *report.Input) { input.Experiment.Spec.Question = question }
}

// put publishes a report into a site and returns the description.
func put(t *testing.T, site string, document *report.Report) string {
	t.Helper()
	entries, err := publish.Entries(site)
	expect.NoError(t, err)
	plan, err := publish.PlanFolder(site, document, entries)
	expect.NoError(t, err)
	expect.NoError(t, plan.Write())
	return plan.Describe(false)
}

// files returns the contents of a site by path.
func files(t *testing.T, site string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(site, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := os.ReadFile(name)
		within, _ := filepath.Rel(site, name)
		found[filepath.ToSlash(within)] = string(body)
		return err
	})
	expect.NoError(t, err)
	return found
}

func TestFolderIndexIsNewestFirst(t *testing.T) {
	older, newer := measured(t, "heap", "1", 0, asked("Old?")), measured(t, "broker", "2", time.Hour, asked("New <b>?"))
	// As a glob pattern, this name would match other folders.
	site := filepath.Join(t.TempDir(), "si[a]te*")
	put(t, site, newer)
	put(t, site, older)
	index := files(t, site)["index.html"]
	first, second := strings.Index(index, "New &lt;b&gt;?"), strings.Index(index, "Old?")
	if first < 0 || second < first {
		t.Errorf("the newer report is at %d, the older at %d of\n%s", first, second, index)
	}
	brief := newer.Brief()
	expect.Contains(t, index, []string{brief.Sentence[:20], brief.Verdicts[0].Text, "36 runs", brief.Measured.Format("2 January 2006")}, "the index")
	other := t.TempDir()
	put(t, other, older)
	put(t, other, newer)
	if again := files(t, other)["index.html"]; again != index {
		t.Errorf("the index depends on the order in which reports came:\n%s\n%s", index, again)
	}
}

func TestFolderIsUpdatedInPlace(t *testing.T) {
	site := t.TempDir()
	put(t, site, measured(t, "heap", "1", 0, asked("Before?")))
	put(t, site, measured(t, "broker", "2", 0))
	before := files(t, site)
	if told := put(t, site, measured(t, "heap", "1", 0, asked("Before?"))); !strings.Contains(told, "up to date: nothing was written") {
		t.Errorf("an unchanged report: %s", told)
	}
	if told := put(t, site, measured(t, "heap", "1", 0, asked("After?"))); !strings.Contains(told, "is updated; the index lists 2 reports") {
		t.Errorf("a changed report: %s", told)
	}
	after := files(t, site)
	if len(after) != len(before) || strings.Contains(after["index.html"], "Before?") || !strings.Contains(after["index.html"], "After?") {
		t.Errorf("%d files became %d, the index is\n%s", len(before), len(after), after["index.html"])
	}
	// A recreated experiment of the same name is another one.
	put(t, site, measured(t, "heap", "3", 0))
	if again := files(t, site); len(again) != len(after)+2 {
		t.Errorf("%d files became %d", len(after), len(again))
	}
}

func TestFolderRejectsOtherFiles(t *testing.T) {
	document := measured(t, "heap", "1", 0)
	for name, tc := range map[string]struct {
		file, body, want string
	}{
		"Index":         {"index.html", "<h1>mine</h1>", "perflab publish did not create"},
		"BrokenEntry":   {"lab/x/report.json", "{", "is not the entry of a report"},
		"OtherEntry":    {"lab/x/report.json", `{"name": "x", "of": "another program"}`, "is not the entry of a report"},
		"NamelessEntry": {"lab/x/report.json", "{}", "it does not name an experiment"},
		"HugeEntry":     {"lab/x/report.json", strings.Repeat(" ", 2<<20), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			site := t.TempDir()
			path := filepath.Join(site, filepath.FromSlash(tc.file))
			expect.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(tc.body), 0o644)))
			entries, err := publish.Entries(site)
			if err == nil {
				_, err = publish.PlanFolder(site, document, entries)
			}
			if !errors.Is(err, publish.ErrFolder) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %s", err, tc.want)
			}
			if body, err := os.ReadFile(path); err != nil || !bytes.Equal(body, []byte(tc.body)) {
				t.Errorf("it holds %s, %v", body, err)
			}
		})
	}
}

func TestFolderStaysWithinSite(t *testing.T) {
	for name, change := range map[string]func(*report.Input){
		"name":      func(input *report.Input) { input.Experiment.Name = "../../x" },
		"namespace": func(input *report.Input) { input.Experiment.Namespace = ".." },
	} {
		if plan, err := publish.PlanFolder(t.TempDir(), measured(t, "heap", "1", 0, change), nil); !errors.Is(err, publish.ErrFolder) {
			t.Errorf("%s: %+v, %v", name, plan, err)
		}
	}
}
