// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"perflab.dev/perflab/api/v1alpha1"
)

// afterWrite calls happen right after the operator's nth write of this kind, in the middle of its
// reconcile, or at the latest after all writes.
func (l *lab) afterWrite(after step, happen func()) {
	seen := 0
	done := func() {
		l.line.after, seen = nil, -1
		happen()
	}
	l.line.after = func() {
		if writeKind(l.line.journal[len(l.line.journal)-1]) != after.what {
			return
		}
		if seen++; seen == after.n {
			done()
		}
	}
	others := l.eachRound
	l.eachRound = func() {
		others()
		if seen >= 0 && l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete {
			done()
		}
	}
}

// step is the nth write of a kind.
type step struct {
	what string
	n    int
}

func (s step) String() string {
	return fmt.Sprintf("after %s, time %d", strings.ReplaceAll(s.what, "*v1alpha1.", ""), s.n)
}

// writeKind is the verb and the kind of a write.
func writeKind(write string) string { return write[:strings.LastIndex(write, " ")] }

// everyStep tests after each write, instead of after the first one of each kind.
var everyStep = os.Getenv("PERFLAB_TEST_EVERY_STEP") != ""

// newSteps are the writes: of each kind, the first one that was not seen before.
func newSteps(writes []string, seen map[string]bool) []step {
	var steps []step
	times := map[string]int{}
	for _, write := range writes {
		what := writeKind(write)
		times[what]++
		if !seen[what] || everyStep {
			steps = append(steps, step{what, times[what]})
		}
		seen[what] = true
	}
	return steps
}

// An experiment that is deleted at any step deletes all that it created, and releases what it
// adopted.
func TestExperimentDeletedAtAnyStepLeavesNothing(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(scenes)) {
		for _, step := range sample(t, newSteps(scenes[name].undisturbed(t).writes, seen)) {
			t.Run(name+", "+step.String(), func(t *testing.T) {
				l := newLab(t, complete)
				watched := scenes[name].begin(l)
				l.afterWrite(step, func() { l.remove(l.experiment("small")) })
				watched.gone()
			})
		}
	}
}

// A run that a user deletes is repeated from the beginning.
func TestRunDeletedAtAnyStepIsRepeated(t *testing.T) {
	t.Parallel()
	scene := scenes["a collector and restored data"]
	var steps []step
	for _, step := range newSteps(scene.undisturbed(t).writes, map[string]bool{}) {
		if !strings.HasSuffix(step.what, "PerfExperiment") {
			steps = append(steps, step)
		}
	}
	scene.deleted(t, steps, func(l *lab, watched *invariants) {
		if l.run() == nil {
			return
		}
		l.remove(l.run())
		l.collectGarbage()
		watched.forget()
	})
}

// The experiment waits for a deleted system until the first run has its copy, and needs it no longer
// from then on.
func TestSystemDeletedAtAnyStep(t *testing.T) {
	t.Parallel()
	scene := scenes["topics in external brokers"]
	var steps []step
	for _, step := range newSteps(scene.undisturbed(t).writes, map[string]bool{}) {
		if strings.Contains(step.what, "Perf") || strings.Contains(step.what, "ConfigMap") {
			steps = append(steps, step)
		}
	}
	scene.deleted(t, steps, func(l *lab, _ *invariants) {
		library := shared(smallExperiment(l.t, scene.edits...))
		library.SetNamespace(l.namespace)
		l.remove(library)
		others := l.eachRound
		l.eachRound = func() {
			others()
			if !l.missesItsSystem() {
				return
			}
			if run := l.run(); run != nil {
				l.t.Errorf("run %s has the system, and it is missed", run.Name)
			}
			l.create(shared(smallExperiment(l.t, scene.edits...)))
		}
	})
}

func (l *lab) missesItsSystem() bool {
	for _, experiment := range l.experiments() {
		ready := meta.FindStatusCondition(experiment.Status.Conditions, v1alpha1.ConditionReady)
		if ready != nil && ready.Reason == v1alpha1.ReasonSystemMissing {
			return true
		}
	}
	return false
}

// deleted deletes something after the writes, and expects the same results.
func (s *scene) deleted(t *testing.T, steps []step, happen func(*lab, *invariants)) {
	t.Helper()
	want := s.undisturbed(t)
	for _, step := range sample(t, steps) {
		t.Run(step.String(), func(t *testing.T) {
			l := newLab(t, complete)
			watched := s.begin(l)
			l.afterWrite(step, func() { happen(l, watched) })
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			l.settle()
			got := l.outcome()
			want.Runs, got.Runs = withoutAttempts(want.Runs), withoutAttempts(got.Runs)
			if diff := cmp.Diff(want, got, unwritten); diff != "" {
				t.Errorf("results differ (-want +got):\n%s", diff)
			}
		})
	}
}

// attemptAndDigest end a run's name. The replacement of a deleted run has the next number.
var attemptAndDigest = regexp.MustCompile(`(-try[0-9]+)?-[0-9a-f]{10} `)

func withoutAttempts(runs []string) []string {
	var names []string
	for _, run := range runs {
		names = append(names, attemptAndDigest.ReplaceAllString(run, " "))
	}
	return names
}
