// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// withRetention sets the experiment's retention.
func withRetention(retention v1alpha1.Retention) func(*v1alpha1.PerfExperiment) {
	return func(e *v1alpha1.PerfExperiment) { e.Spec.Retention = &retention }
}

func hours(count int) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(count) * time.Hour}
}

// rawResults are the existing ConfigMaps with raw results.
func (l *lab) rawResults() []string {
	l.t.Helper()
	list := &corev1.ConfigMapList{}
	l.list(list)
	var names []string
	for i := range list.Items {
		if name := list.Items[i].Name; strings.HasSuffix(name, "-raw") || strings.HasSuffix(name, "-samples") {
			names = append(names, name)
		}
	}
	return names
}

// expectIdle reconciles once more: it reads only from the cache.
func (l *lab) expectIdle(wait time.Duration) {
	l.t.Helper()
	if result, _, writes := l.look(); writes != 0 || result != (ctrl.Result{RequeueAfter: wait}) {
		l.t.Errorf("%d writes, then %+v, want none and a wait of %s", writes, result, wait)
	}
}

// The results stay unchanged when the raw results are deleted.
func TestRawResultsExpire(t *testing.T) {
	l := newLab(t, complete)
	l.settled(withRetention(v1alpha1.Retention{RawResults: hours(24), Runs: hours(48)}))
	l.until("the end of the environment", func() bool { return l.experiment("small").Status.TornDown != nil })
	said, report := l.experiment("small").Status, l.configMap("small-report")
	if len(l.rawResults()) == 0 {
		t.Fatal("no raw results exist")
	}
	l.now = said.CompletionTime.Add(23 * time.Hour)
	l.expectIdle(time.Hour)
	l.now = l.now.Add(time.Hour)
	l.settle()
	if left := l.rawResults(); len(left) != 0 || len(l.runs()) != 1 {
		t.Errorf("left are %v and %d runs, want the run alone", left, len(l.runs()))
	}
	l.expectIdle(24 * time.Hour)
	l.now = l.now.Add(24 * time.Hour)
	l.settle()
	if runs := l.runs(); len(runs) != 0 {
		t.Errorf("%d runs are left", len(runs))
	}
	l.now = l.now.Add(1000 * time.Hour)
	l.settle()
	after := l.experiment("small").Status
	if len(l.runs()) != 0 || after.Phase != v1alpha1.ExperimentComplete {
		t.Errorf("%d runs were made again, and it is %s", len(l.runs()), after.Phase)
	}
	if diff := cmp.Diff(said, after, cmpopts.IgnoreFields(v1alpha1.PerfExperimentStatus{}, "History")); diff != "" {
		t.Errorf("the results have changed:\n%s", diff)
	}
	if diff := cmp.Diff(report.Data, l.configMap("small-report").Data); diff != "" {
		t.Errorf("the report has changed:\n%s", diff)
	}
	l.ask(func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.TTL = hours(1) })
	l.settle()
	if seen := l.experiment("small"); seen.Status.ObservedGeneration != seen.Generation {
		t.Errorf("generation %d was not noticed", seen.Generation)
	}
	expect.NoError(t, l.admin.Delete(t.Context(), l.experiment("small")))
	l.until("the experiment to be deleted", func() bool { return len(l.experiments()) == 0 })
}

func TestNewestRawResultsAreKept(t *testing.T) {
	l := newLab(t, complete)
	l.settled(twoBlocks, withRetention(v1alpha1.Retention{RawResultsOf: ptr.To[int32](1)}))
	l.until("raw results to be deleted", func() bool { return l.experiment("small").Status.History != nil })
	newest := l.run().Name
	left := l.rawResults()
	for _, name := range left {
		if !strings.HasPrefix(name, newest) {
			t.Errorf("%s is left, want those of %s alone", name, newest)
		}
	}
	if len(left) == 0 || len(l.runs()) != 2 {
		t.Errorf("left are %v and %d runs, want those of the newest, and two", left, len(l.runs()))
	}
	l.expectIdle(0)
	l.ask(func(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 3 })
	if done := l.untilPhase("small", v1alpha1.ExperimentComplete); done.Status.Progress != "3/3" {
		t.Errorf("after another block it is %s", done.Status.Progress)
	}
	l.until("raw results of the third run alone", func() bool {
		left := l.rawResults()
		return len(left) > 0 && strings.HasPrefix(left[0], l.run().Name)
	})
}

// The operator's limits are the default; and nothing is deleted before the environment's cleanup.
func TestOperatorHistoryIsTheDefault(t *testing.T) {
	l := newLab(t, complete)
	l.history.RawResults = time.Hour
	l.settled(func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.TTL = hours(2) })
	l.now = l.now.Add(90 * time.Minute)
	l.settle()
	if len(l.rawResults()) == 0 {
		t.Error("raw results were deleted before the environment")
	}
	l.now = l.now.Add(time.Hour)
	l.until("raw results to be deleted", func() bool { return len(l.rawResults()) == 0 })
}

func TestRawResultsLimit(t *testing.T) {
	for name, want := range map[string]struct {
		asked *v1alpha1.Retention
		runs  int
	}{
		"not specified": {nil, 1},
		"two":           {&v1alpha1.Retention{RawResultsOf: ptr.To[int32](2)}, 2},
		"none":          {&v1alpha1.Retention{RawResultsOf: ptr.To[int32](0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.history.RawResultsOf = ptr.To[int32](1)
			l.settled(twoBlocks, func(e *v1alpha1.PerfExperiment) { e.Spec.Retention = want.asked })
			l.until("the end of the environment", func() bool { return l.experiment("small").Status.TornDown != nil })
			l.settle()
			runs := map[string]bool{}
			for _, run := range l.runs() {
				for _, raw := range l.rawResults() {
					if strings.HasPrefix(raw, run.Name) {
						runs[run.Name] = true
					}
				}
			}
			if len(runs) != want.runs {
				t.Errorf("raw results of %d runs are left, want those of %d", len(runs), want.runs)
			}
		})
	}
}

// another experiment, which completes later.
func (l *lab) another(edits ...func(*v1alpha1.PerfExperiment)) {
	l.t.Helper()
	edits = append(edits, oneArm, func(e *v1alpha1.PerfExperiment) { e.Name = "later" })
	l.create(smallExperiment(l.t, edits...))
	l.until("another that has settled", func() bool { return l.experiment("later").Status.Settled != "" })
}

// countRuns counts the existing runs of an experiment.
func (l *lab) countRuns(experiment string) int {
	l.t.Helper()
	runs := l.runs()
	return len(slices.DeleteFunc(runs, func(run v1alpha1.PerfRun) bool { return run.Spec.Experiment != experiment }))
}

func TestNewestExperimentsKeepRuns(t *testing.T) {
	for name, want := range map[string]struct {
		stay           int32
		small          *v1alpha1.Retention
		ofSmall, later int
	}{
		"one":                   {1, nil, 0, 1},
		"two":                   {2, nil, 1, 1},
		"none":                  {0, nil, 0, 0},
		"a duration of its own": {1, &v1alpha1.Retention{Runs: hours(1000)}, 1, 1},
		"another field":         {1, &v1alpha1.Retention{RawResults: hours(1000)}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.history.RunsOf = ptr.To(want.stay)
			l.settled(func(e *v1alpha1.PerfExperiment) { e.Spec.Retention = want.small })
			l.until("the end of its environment", func() bool { return l.experiment("small").Status.TornDown != nil })
			said := l.experiment("small").Status
			l.another()
			l.until("the end of the other's", func() bool { return l.experiment("later").Status.TornDown != nil })
			l.settle()
			if small, later := l.countRuns("small"), l.countRuns("later"); small != want.ofSmall || later != want.later {
				t.Errorf("%d and %d runs are left, want %d and %d", small, later, want.ofSmall, want.later)
			}
			after := l.experiment("small").Status
			if diff := cmp.Diff(said, after, cmpopts.IgnoreFields(v1alpha1.PerfExperimentStatus{}, "History")); diff != "" {
				t.Errorf("the results have changed:\n%s", diff)
			}
		})
	}
}
