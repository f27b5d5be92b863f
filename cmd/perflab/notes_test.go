// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"perflab.dev/perflab/cmd/perflab/exit"

	corev1 "k8s.io/api/core/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// folderOf creates a folder with files.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, body := range files {
		expect.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(body), 0o600))
	}
	return folder
}

// Notes in files are like those of an experiment, in the sections that their files
// name.
func TestReportTakesNotesFromFiles(t *testing.T) {
	folder := folderOf(t, map[string]string{
		"results.md": "![CPU](cpu.png)", "Why us.md": "Because.", "cpu.png": string(recorded.Image()), "large.png": strings.Repeat("w", report.MaxPictureBytes+1), "readme.txt": "not this",
	})
	charts := filepath.Join(t.TempDir(), "charts")
	got := perflab(t, "", "report", "-f", exported(t), "-o", "md", "--charts", charts, "--notes", folder, "--notes", filepath.Join(folder, "results.md"))
	got.ends(0)
	for from, want := range map[string]string{
		"\n## Summary\n": "> **Note why-us (written by hand, not measured)**\n>\n> Because.\n",
		"\n## Results\n": "](" + filepath.ToSlash(charts) + "/note-results-1.png)\n",
	} {
		_, section, _ := strings.Cut(got.out, from)
		if section, _, _ = strings.Cut(section, "\n## "); !strings.Contains(section, want) {
			t.Errorf("%s lacks %q:\n%.3000s", from, want, section)
		}
	}
	if strings.Contains(got.out, "not this") || !strings.Contains(got.out, "Note results-2 (written by hand") {
		t.Error("the notes are others than the folder's and the file's")
	}
	if written, err := os.ReadFile(filepath.Join(charts, "note-results-1.png")); err != nil || !bytes.Equal(written, recorded.Image()) {
		t.Errorf("the picture was not written: %v", err)
	}
	for want, arguments := range map[string][]string{
		"has no file with the extension .md": {"--notes", t.TempDir()},
		"no-such.md":                         {"--notes", "no-such.md"},
		"CSV has only numbers":               {"--notes", folder, "-o", "csv"},
	} {
		got := perflab(t, "", append([]string{"report", "-f", exported(t)}, arguments...)...)
		if got.code != exit.Failed || !strings.Contains(got.problems, want) || got.out != "" {
			t.Errorf("%q: exit code %d: %s", arguments, got.code, got.problems)
		}
	}
}

// The ConfigMaps of notes are exported and imported with the results, repeatedly.
func TestNotesAreExportedAndImported(t *testing.T) {
	archive := measured(t).other(t)
	input := recorded.Experiment(1)
	input.Runs, input.Raw = input.Runs[:1], nil
	input.Experiment.Status.Report = recorded.Name + "-report"
	input.Experiment.Spec.Notes = []v1alpha1.Note{{Name: "cause", ConfigMap: &v1alpha1.ConfigMapKey{Name: "findings", Key: "cause.md"}}}
	input.Notes = []corev1.ConfigMap{{
		ObjectMeta: metav1.ObjectMeta{Namespace: recorded.Namespace, Name: "findings", Labels: map[string]string{"team": "storage"}},
		Data:       map[string]string{"cause.md": "The **collector**. ![CPU](cpu.png)"}, BinaryData: map[string][]byte{"cpu.png": recorded.Image()},
	}}
	file := written(t, input)
	archive.must(t, file, "import", "-f", "-")
	again := archive.must(t, "", "export", recorded.Name)
	for what, page := range map[string]string{
		"file":          perflab(t, file, "report", "-f", "-", "-o", "html").out,
		"stored report": archive.storedPage(t),
		"record":        archive.must(t, "", "report", recorded.Name, "-o", "html").out,
		"export":        perflab(t, again.out, "report", "-f", "-", "-o", "html").out,
	} {
		if !strings.Contains(page, `The <strong>collector</strong>. <img src="data:image/png;base64,`) {
			t.Errorf("the %s lacks the note", what)
		}
	}

	alike := measured(t).other(t)
	same := input.Notes[0].DeepCopy()
	same.Namespace = alike.namespace
	expect.NoError(t, alike.client.Create(t.Context(), same))
	alike.must(t, file, "import", "-f", "-")

	taken := measured(t).other(t)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: taken.namespace, Name: "findings"}, Data: map[string]string{"cause.md": "Ours."}}
	expect.NoError(t, taken.client.Create(t.Context(), theirs))
	got := taken.perflab(t, file, "import", "-f", "-")
	got.ends(exit.Failed).warns(`creating ConfigMap "findings": it already exists with other content`, "the import was rolled back")
	kept := &corev1.ConfigMap{}
	if err := taken.client.Get(t.Context(), client.ObjectKeyFromObject(theirs), kept); err != nil || kept.Data["cause.md"] != "Ours." {
		t.Errorf("theirs holds %q, %v", kept.Data, err)
	}
}
