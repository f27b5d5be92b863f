// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
)

// stored is the report's ConfigMap; nil if it does not exist.
func (l *lab) stored() *corev1.ConfigMap {
	l.t.Helper()
	found := &corev1.ConfigMap{}
	err := l.admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "small-report"}, found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	expect.NoError(l.t, err, "reading the report")
	return found
}

// pages are the pages of a stored report, unpacked.
func (l *lab) pages(stored *corev1.ConfigMap) map[string]string {
	l.t.Helper()
	pages := map[string]string{}
	for key, text := range stored.Data {
		pages[key] = text
	}
	for key, packed := range stored.BinaryData {
		reader, err := gzip.NewReader(bytes.NewReader(packed))
		expect.NoError(l.t, err, "%s", key)
		page, err := io.ReadAll(reader)
		expect.NoError(l.t, err, "%s", key)
		pages[key] = string(page)
	}
	return pages
}

// written counts the writes of the report.
func (l *lab) written() int {
	count := 0
	for _, write := range l.line.journal {
		if write == "apply ConfigMap small-report" {
			count++
		}
	}
	return count
}

// openings counts the reads of raw results for a report.
type openings struct {
	client.Reader
	count int
}

func (o *openings) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, whole := object.(*corev1.ConfigMap); whole && strings.HasSuffix(key.Name, "-raw") {
		o.count++
	}
	return o.Reader.Get(ctx, key, object, options...)
}

// aboutReport are the warnings about it.
func aboutReport(experiment *v1alpha1.PerfExperiment) []string {
	return slices.DeleteFunc(slices.Clone(experiment.Status.Warnings), func(warning string) bool {
		return !strings.HasPrefix(warning, "the report in the cluster ")
	})
}

// head is where a report shows the phase and the number of valid runs.
var head = regexp.MustCompile(`\| Phase \| (\w+) \|\n\| Runs \| (\d+ valid, \d+ invalid) \|`)

func TestReportIsStoredAfterEachBlock(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, blocks(2)))
	phases := map[string]int{}
	l.eachRound = func() {
		if stored := l.stored(); stored != nil {
			found := head.FindStringSubmatch(l.pages(stored)["report.md"])
			if found == nil {
				t.Fatalf("the report has no head:\n%.1000s", stored.Data["report.md"])
			}
			phases[found[1]+" | "+found[2]] = l.written()
		}
	}
	done := l.conduct("small", outcomes{spread: 0.01})
	want := map[string]int{"Running | 3 valid, 0 invalid": 1, "Complete | 6 valid, 0 invalid": 2}
	if difference := cmp.Diff(want, phases); difference != "" {
		t.Errorf("it was written at other times (-want +got):\n%s", difference)
	}
	if done.Status.Report != "small-report" || len(aboutReport(done)) != 0 {
		t.Errorf("the status names %q and warns %q", done.Status.Report, done.Status.Warnings)
	}
}

// Deleted raw results are missing in the report, which reports that.
func TestMissingRawResultsAreReported(t *testing.T) { withBothOperators(t, testMissingRawResults) }

// withBothOperators tests an operator that is restarted at each reconcile, and one that keeps its
// cache.
func withBothOperators(t *testing.T, test func(*testing.T, *lab)) {
	t.Helper()
	t.Parallel()
	for name, stays := range map[string]bool{"just started": false, "stays": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.live = &openings{Reader: l.admin}
			if stays {
				l.lasting, _ = l.operator()
			}
			test(t, l)
		})
	}
}

func testMissingRawResults(t *testing.T, l *lab) {
	l.create(login(), smallExperiment(t, oneArm, blocks(2)))
	l.until("the first report", func() bool { return l.stored() != nil })
	gone := l.runs()[0].Status.RawResults
	l.remove(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: gone}})
	warnings := aboutReport(l.untilPhase("small", v1alpha1.ExperimentComplete))
	if len(warnings) != 1 || !strings.Contains(warnings[0], "1 ConfigMap, the first is \""+gone+"\"; perflab verify small") {
		t.Errorf("it warns %q, want one about %s", warnings, gone)
	}
	l.settle()
	if later := aboutReport(l.experiment("small")); !slices.Equal(later, warnings) {
		t.Errorf("a later pass warns %q", later)
	}
}

// Rendering the recorded objects gives the stored report.
func TestStoredReportIsWrittenOnce(t *testing.T) {
	l := newLab(t, complete)
	read := &openings{Reader: l.admin}
	l.live = read
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Modules[0].Env = []corev1.EnvVar{{Name: "DB_PASSWORD", Value: password}}
	}))
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	first, opened := l.stored(), read.count
	if first == nil || opened == 0 {
		t.Fatalf("the report %v was written from %d raw results", first, opened)
	}
	pages := l.pages(first)
	if difference := cmp.Diff(l.rendered(done), pages["report.html.gz"]); difference != "" {
		t.Errorf("the recorded objects give another one:\n%.2000s", difference)
	}
	for key, page := range pages {
		if strings.Contains(page, password) || len(page) < 100 {
			t.Errorf("%s shows a password, or nothing:\n%.300s", key, page)
		}
	}
	for range 3 {
		l.pass()
	}
	if again := l.stored(); again.ResourceVersion != first.ResourceVersion || read.count != opened {
		t.Errorf("a restarted operator rendered it again: %d raw results read, then %d", opened, read.count)
	}
}

func TestStoredReportIsDeletedWithExperiment(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if stored := l.stored(); stored == nil || !metav1.IsControlledBy(stored, done) {
		t.Fatalf("the report is %v", stored)
	}
	expect.NoError(t, l.admin.Delete(t.Context(), done))
	l.until("no experiment", func() bool { return len(l.experiments()) == 0 })
	l.collectGarbage()
	if stored := l.stored(); stored != nil {
		t.Errorf("the report still exists, owned by %v", stored.OwnerReferences)
	}
}

func TestFailedReportStopsNothing(t *testing.T) {
	withBothOperators(t, testFailedReport)
}

func testFailedReport(t *testing.T, l *lab) {
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 2 }))
	l.until("a report of one block", func() bool { return l.stored() != nil })
	broken := &corev1.ConfigMap{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: l.runs()[0].Status.RawResults}, broken))
	broken.BinaryData = map[string][]byte{"cico": []byte("not what a runner wrote")}
	expect.NoError(t, l.admin.Update(t.Context(), broken))
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	reported := aboutReport(done)
	if len(reported) != 1 || !strings.Contains(reported[0], "at the end (complete blocks: 2)") || !strings.Contains(reported[0], broken.Name[:10]) {
		t.Errorf("it warns %q", reported)
	}
	if done.Status.Report != "small-report" || done.Status.Progress != "2/2" || l.written() != 1 {
		t.Errorf("the report %q was written %d times, progress %s", done.Status.Report, l.written(), done.Status.Progress)
	}
	tried := l.opened()
	l.pass()
	if l.opened() != tried {
		t.Error("what can't be rendered is tried again in each pass")
	}
}

// The report of a hundredth block must not read the raw results of all blocks.
func TestRawResultsAreReadOnce(t *testing.T) {
	withBothOperators(t, func(t *testing.T, l *lab) {
		l.create(login(), smallExperiment(t, blocks(3)))
		done := l.untilPhase("small", v1alpha1.ExperimentComplete)
		runs := l.runs()
		want := len(runs)
		if l.lasting == nil {
			// Those of the first block by three reports, and so on.
			want = len(runs) / 3 * (3 + 2 + 1)
		}
		if opened := l.opened(); opened != want {
			t.Errorf("of %d runs, raw results were read %d times, want %d", len(runs), opened, want)
		}
		stored := l.stored()
		if stored == nil {
			t.Fatal("no report")
		}
		if difference := cmp.Diff(l.rendered(done), l.pages(stored)["report.html.gz"]); difference != "" {
			t.Errorf("reading all raw results together gives another report:\n%.2000s", difference)
		}
	})
}

// rendered is the page rendered from the recorded objects.
func (l *lab) rendered(experiment *v1alpha1.PerfExperiment) string {
	l.t.Helper()
	input := report.Input{Experiment: *experiment, Runs: l.runs()}
	for i := range input.Runs {
		raw, err := kube.RawResults(l.t.Context(), l.admin, &input.Runs[i])
		expect.NoError(l.t, err)
		input.Raw = append(input.Raw, raw...)
	}
	made, err := report.New(input)
	expect.NoError(l.t, err)
	html, err := made.HTML()
	expect.NoError(l.t, err)
	return string(html)
}

// opened counts the reads of raw results.
func (l *lab) opened() int {
	l.t.Helper()
	read, counts := l.live.(*openings)
	if !counts {
		l.t.Fatal("reads are not counted")
	}
	return read.count
}

func TestForeignReportConfigMapStaysUnchanged(t *testing.T) {
	l := newLab(t, complete)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "small-report"}, Data: map[string]string{"notes": "mine"}}
	l.create(login(), theirs, smallExperiment(t, blocks(1)))
	done := l.conduct("small", outcomes{})
	if reported := aboutReport(done); len(reported) != 1 || !strings.Contains(reported[0], `retrying: ConfigMap "small-report" already exists, but this experiment did not create it`) {
		t.Errorf("it warns %q", reported)
	}
	if kept := l.stored(); kept.Data["notes"] != "mine" || len(kept.Data) != 1 || done.Status.Report != "" {
		t.Errorf("it became %v, named %q", kept.Data, done.Status.Report)
	}
	expect.NoError(t, l.admin.Delete(t.Context(), theirs))
	l.settle()
	if after := l.experiment("small"); l.stored() == nil || after.Status.Report != "small-report" || len(aboutReport(after)) != 0 {
		t.Errorf("once it is deleted the report is %q, with warnings %q", after.Status.Report, after.Status.Warnings)
	}
}

// A run that was cold in its measurement warns, and is valid.
func TestColdRunWarns(t *testing.T) {
	l := newLab(t, complete)
	l.outside.cold = true
	l.create(login(), smallExperiment(t, oneArm))
	run := l.untilRun(v1alpha1.RunSucceeded)
	if warnings := strings.Join(run.Status.Warnings, "; "); !strings.Contains(warnings, "the system was still warming up; set measurement.warmUp to 10s,") {
		t.Errorf("the run warns %q", warnings)
	}
	if advised := run.Status.AdvisedWarmUp; advised == nil || advised.Duration != 10*time.Second {
		t.Errorf("the advised warm-up is %v, want 10s", advised)
	}
}
