// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
)

// faults are what befalls the operator at every step. None of them changes what
// comes out.
var faults = map[string]func(l *lab){
	"killed at each write":     func(l *lab) { l.line.fate = inTurn(lost, unanswered) },
	"a conflict at each write": func(l *lab) { l.line.fate = inTurn(conflicting, passes) },
	"each write refused once":  func(l *lab) { l.refuseOnce() },
	"the lease lost":           func(l *lab) { l.line.fate = inTurn(deposed, overtaken) },
	"reads that fail":          func(l *lab) { l.line.unread = moreAndMoreSeldom() },
	"a cache that is behind":   func(l *lab) { l.line.view = l.behind(4) },
}

// inTurn has each write meet the first of these fates, when it is tried again the
// second, and so on.
func inTurn(first, second fate) func(string) fate {
	tried := map[string]int{}
	return func(what string) fate {
		tried[what]++
		if tried[what]%2 == 1 {
			return first
		}
		return second
	}
}

// Whatever befalls the operator at every step, the same comes out, and nothing is
// left when the experiment is gone.
func TestNoFaultChangesWhatComesOut(t *testing.T) {
	t.Parallel()
	suffered := &hits{by: map[string]map[string]bool{}}
	t.Run("scenes", func(t *testing.T) {
		for n, name := range slices.Sorted(maps.Keys(scenes)) {
			t.Run(name, func(t *testing.T) { scenes[name].suffer(t, n, suffered) })
		}
	})
	suffered.coverTheRole(t)
}

// suffer plays the nth scene once as it should be and once with each fault. Of three
// scenes in a row, each fault is drawn in one.
func (s *scene) suffer(t *testing.T, n int, suffered *hits) {
	t.Helper()
	t.Parallel()
	want := s.undisturbed(t)
	for f, name := range slices.Sorted(maps.Keys(faults)) {
		if !drawn(n + f) {
			continue
		}
		inject := faults[name]
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			inject(l)
			watched := s.begin(l)
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			l.settle()
			if diff := cmp.Diff(want, l.outcome(), unwritten); diff != "" {
				t.Errorf("something else came out (-want +got):\n%s", diff)
			}
			l.chainHolds("small")
			watched.deleteExperiment()
			suffered.add(name, l.line.hit)
		})
	}
}

// moreAndMoreSeldom fails the reads of each kind the first time, the fourth, the sixteenth,
// and so on, each time in another way; those of each object where the family is tested
// whole.
func moreAndMoreSeldom() func(string) error {
	asked, due, failed := map[string]int{}, map[string]int{}, 0
	ways := []error{
		injected{apierrors.NewInternalError(errors.New("etcdserver: leader changed"))},
		injected{apierrors.NewTooManyRequests("the server is busy", 1)},
		injected{apierrors.NewServerTimeout(schema.GroupResource{Resource: "things"}, "get", 1)},
		fmt.Errorf("dial tcp: connection refused: %w", errCut),
		fmt.Errorf("%w: %w", errCut, context.DeadlineExceeded),
	}
	return func(what string) error {
		if !whole {
			what = kindOfRead(what)
		}
		asked[what]++
		if asked[what] != max(due[what], 1) {
			return nil
		}
		due[what] = 4 * asked[what]
		failed++
		return ways[failed%len(ways)]
	}
}

// kindOfRead leaves out which objects are read.
func kindOfRead(what string) string {
	words := strings.Fields(what)
	if past := []string{"past", "the", "cache"}; len(words) > 4 && slices.Equal(words[1:4], past) {
		return strings.Join(words[:5], " ")
	}
	return strings.Join(words[:min(2, len(words))], " ")
}

// refuseOnce has each write refused for a pass, and looks whether people are told
// in that pass. What a status is to tell is not refused with it.
func (l *lab) refuseOnce() {
	seen, now := map[string]bool{}, map[string]bool{}
	l.line.refuse = func(what string) error {
		if !now[what] && (seen[what] || strings.HasPrefix(what, patchStatus) && len(now) > 0) {
			return nil
		}
		seen[what], now[what] = true, true
		return refusal(len(seen), what)
	}
	l.eachPass = func() {
		told := l.tells()
		for what := range now {
			if !strings.Contains(told, aboutThe(what)) {
				l.t.Errorf("nobody is told that the cluster refuses to %s:\n%s", what, l.describe())
			}
		}
		clear(now)
	}
}

func aboutThe(what string) string { return notHere + ": " + what }

// refusal is what an API server has against a write, in words of ours.
func refusal(n int, what string) error {
	things := schema.GroupResource{Resource: "things"}
	switch n % 3 {
	case 0:
		return injected{apierrors.NewForbidden(things, "thing", errors.New("exceeded quota, "+aboutThe(what)))}
	case 1:
		return injected{apierrors.NewForbidden(things, "thing", errors.New("admission webhook denied the request, "+aboutThe(what)))}
	default:
		detail := field.ErrorList{field.Forbidden(field.NewPath("spec"), aboutThe(what))}
		return injected{apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "thing", detail)}
	}
}

// tells is what statuses, events and, where a status can't be written, the
// operator's log tell.
func (l *lab) tells() string {
	l.t.Helper()
	told := slices.Clone(l.events.told)
	for _, experiment := range l.experiments() {
		told = append(told, experiment.Status.WaitingFor)
		told = append(append(told, experiment.Status.Warnings...), messagesOf(experiment.Status.Conditions)...)
	}
	for _, run := range l.runs() {
		told = append(append(told, run.Status.Warnings...), messagesOf(run.Status.Conditions)...)
	}
	schedules := &v1alpha1.PerfScheduleList{}
	l.list(schedules)
	for _, schedule := range schedules.Items {
		told = append(told, messagesOf(schedule.Status.Conditions)...)
	}
	for _, err := range l.passed {
		told = append(told, err.Error())
	}
	return strings.Join(told, "\n")
}

func messagesOf(conditions []metav1.Condition) []string {
	messages := make([]string, 0, len(conditions))
	for _, condition := range conditions {
		messages = append(messages, condition.Message)
	}
	return messages
}

// hits are the writes that faults have disturbed, by fault: "apply Kafka".
type hits struct {
	mutex sync.Mutex
	by    map[string]map[string]bool
	// played is how many scenes there were with how many faults.
	played int
}

func (h *hits) add(fault string, disturbed map[string]bool) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.by[fault] == nil {
		h.by[fault] = map[string]bool{}
	}
	maps.Copy(h.by[fault], disturbed)
	h.played++
}

// notObjects are what the role may write and no object of an experiment is.
var notObjects = map[string]string{
	"events":                     "they go out over a connection of their own, and are told again by nobody",
	"localsubjectaccessreviews":  "they are questions",
	"perfexperiments/finalizers": "it is the right to name the experiment as an owner",
	"perfruns/finalizers":        "it is the right to name the run as an owner",
	"perfschedules/finalizers":   "it is the right to name the schedule as an owner",
}

// writesOfSchedules are those of the role that only schedules take: faults meet them in
// a test of their own.
var writesOfSchedules = []string{"apply perfexperiments", "apply perfschedules/status", "delete perfexperiments"}

// coverTheRole fails the test for each kind of write that the operator's role
// allows and a fault of writes has not disturbed.
func (h *hits) coverTheRole(t *testing.T) {
	t.Helper()
	if h.played < len(scenes)*len(faults) {
		t.Log("some scenes were left out, or did not come to their end")
		return
	}
	for fault, disturbed := range h.by {
		missed := slices.DeleteFunc(allowed(t), func(write string) bool { return disturbed[write] || slices.Contains(writesOfSchedules[1:], write) })
		if len(disturbed) > 0 && len(missed) > 0 {
			t.Errorf("in no scene %q meets: %s", fault, strings.Join(missed, ", "))
		}
	}
}

// allowed are the writes that the role allows.
func allowed(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	for _, rule := range apiserver.ClusterRole(t, "role.yaml").Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if write := writeOf(verb, resource); write != "" && notObjects[resource] == "" {
					found[write] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// writeOf tells the writes that differ in what they need: to make or to change an
// object, to write over it as it was seen, and to delete it.
func writeOf(verb, resource string) string {
	switch verb {
	case "delete", "update":
		return verb + " " + resource
	case "create", "patch", "apply":
		return "apply " + resource
	default:
		return ""
	}
}
