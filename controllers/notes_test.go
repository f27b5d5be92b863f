// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"image"
	"image/png"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// findings is a ConfigMap with a note and its picture.
func findings(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	var photo bytes.Buffer
	expect.NoError(t, png.Encode(&photo, image.NewGray(image.Rect(0, 0, 4, 3))))
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "findings"},
		Data:       map[string]string{"cause.md": "# The cause\n\nIt is the **collector**. ![CPU](cpu.png)"},
		BinaryData: map[string][]byte{"cpu.png": photo.Bytes()},
	}
}

// setNotes sets the notes of the experiment, and waits for a new report.
func (l *lab) setNotes(notes ...v1alpha1.Note) map[string]string {
	l.t.Helper()
	before := l.stored()
	l.ask(func(e *v1alpha1.PerfExperiment) { e.Spec.Notes = notes })
	l.until("another report", func() bool { return l.stored().ResourceVersion != before.ResourceVersion })
	l.settle()
	return l.pages(l.stored())
}

// Notes on a complete experiment rebuild its report, and nothing else.
func TestNotesOnCompleteExperiment(t *testing.T) {
	l := newLab(t, complete)
	before := l.settled()
	l.until("the end of the environment", func() bool { return l.experiment("small").Status.TornDown != nil })
	l.create(findings(t))
	runs, reports, manifest := l.runUIDs(), l.written(), l.configMap("small-evidence")
	start := l.run().Status.Timings.LoadStart
	pages := l.setNotes(
		v1alpha1.Note{Name: "cause", Section: v1alpha1.NoteRecommendations, ConfigMap: &v1alpha1.ConfigMapKey{Name: "findings", Key: "cause.md"}},
		v1alpha1.Note{Name: "stopped", At: &metav1.Time{Time: start.Add(time.Second)}, Text: "container stopped"},
	)
	_, recommended, _ := strings.Cut(pages["report.md"], "\n## Recommendations\n")
	recommended, _, _ = strings.Cut(recommended, "\n## ")
	if !strings.Contains(recommended, "> ### The cause\n>\n> It is the **collector**.") {
		t.Errorf("the note is not in its section:\n%s", recommended)
	}
	if html := pages["report.html.gz"]; !strings.Contains(html, `<img src="data:image/png;base64,`) || !strings.Contains(html, `"marks":[{"name":"container stopped"`) {
		t.Error("the page lacks the picture, or the mark on a chart")
	}
	if !regexp.MustCompile(`\| container stopped \|.*` + l.run().Name).MatchString(pages["report.md"]) {
		t.Error("the list of test runs does not show the mark")
	}
	l.expectOnlyReportChanged(before, runs, manifest)
	if more := l.written() - reports; more != 1 || len(aboutReport(l.experiment("small"))) != 0 {
		t.Errorf("it was written %d times more, and warns %q", more, l.experiment("small").Status.Warnings)
	}
	if pages = l.setNotes(); strings.Contains(pages["report.md"], "The cause") {
		t.Error("a removed note is still shown")
	}
	l.expectOnlyReportChanged(before, runs, manifest)
	l.verifyChain("small")
}

// expectOnlyReportChanged fails if more than the report has changed.
func (l *lab) expectOnlyReportChanged(before *v1alpha1.PerfExperiment, runs map[types.UID]string, manifest *corev1.ConfigMap) {
	l.t.Helper()
	if diff := cmp.Diff(runs, l.runUIDs()); diff != "" {
		l.t.Errorf("runs (-before +after):\n%s", diff)
	}
	if left := l.environment(); len(left) != 0 {
		l.t.Errorf("something was built: %v", left)
	}
	if now := l.configMap("small-evidence"); now.ResourceVersion != manifest.ResourceVersion {
		l.t.Error("the digests were rewritten: recorded ones would no longer verify")
	}
	after := l.experiment("small")
	if after.Status.PlanHash != before.Status.PlanHash || after.Status.Evidence.SHA256 != before.Status.Evidence.SHA256 || after.Status.Phase != v1alpha1.ExperimentComplete ||
		!after.Status.CompletionTime.Equal(before.Status.CompletionTime) || after.Status.ObservedGeneration != after.Generation {
		l.t.Errorf("the status is %+v", after.Status)
	}
	written := l.written()
	l.expectIdle(0)
	l.pass()
	if l.written() != written {
		l.t.Error("an operator that has just started writes the report again")
	}
}

// A note that can't be shown is missing in the report, and a warning reports it until it can be.
func TestMissingNoteIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.settled()
	cause := v1alpha1.Note{Name: "cause", ConfigMap: &v1alpha1.ConfigMapKey{Name: "findings", Key: "cause.md"}}
	pages := l.setNotes(cause)
	const reported = `note "cause": ConfigMap "findings" does not exist, or is not readable: apply it to the experiment's namespace, and change the note to update the report`
	if warnings := aboutReport(l.experiment("small")); len(warnings) != 1 || warnings[0] != "the report in the cluster does not show all of its notes: "+reported {
		t.Errorf("it warns %q", warnings)
	}
	if !strings.Contains(pages["report.md"], `Omitted: ConfigMap "findings" does not exist, or is not readable`) {
		t.Error("the report does not show what is missing")
	}
	l.pass()
	if warnings := aboutReport(l.experiment("small")); len(warnings) != 1 {
		t.Errorf("an operator that has just started warns %q", warnings)
	}
	l.create(findings(t))
	cause.Section = v1alpha1.NoteSummary
	if pages = l.setNotes(cause); !strings.Contains(pages["report.md"], "It is the **collector**.") || len(aboutReport(l.experiment("small"))) != 0 {
		t.Errorf("once it exists, the warnings are %q", l.experiment("small").Status.Warnings)
	}
}

// Notes are in the report from the first one on, and a running experiment continues.
func TestNotesOnRunningExperiment(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, twoBlocks, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Notes = []v1alpha1.Note{{Name: "before", Text: "What we expect."}}
	}))
	l.until("the first report", func() bool { return l.stored() != nil })
	begun := l.runUIDs()
	l.ask(func(e *v1alpha1.PerfExperiment) {
		e.Spec.Notes = append(e.Spec.Notes, v1alpha1.Note{Name: "meanwhile", Text: "What we see."})
	})
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	page := l.pages(l.stored())["report.md"]
	if !strings.Contains(page, "What we expect.") || !strings.Contains(page, "What we see.") || done.Status.Progress != "2/2" {
		t.Errorf("after %s the report lacks a note", done.Status.Progress)
	}
	for uid := range begun {
		if l.runUIDs()[uid] == "" {
			t.Error("a run was deleted")
		}
	}
}
