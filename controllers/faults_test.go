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
	"github.com/google/go-cmp/cmp/cmpopts"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
)

// faults are injected at every step. None of them changes the results.
var faults = map[string]func(l *lab){
	"killed at each write":     func(l *lab) { l.line.fate = alternate(lost, unanswered) },
	"a conflict at each write": func(l *lab) { l.line.fate = alternate(conflicting, passes) },
	"each write refused once":  func(l *lab) { l.refuseOnce() },
	"the lease lost":           func(l *lab) { l.line.fate = alternate(deposed, overtaken) },
	"reads that fail":          func(l *lab) { l.line.unread = failReads() },
	"a cache that is behind":   func(l *lab) { l.line.view = l.behind(4) },
}

// alternate gives each write the first of these fates, its retry the second, and so on.
func alternate(first, second fate) func(string) fate {
	tried := map[string]int{}
	return func(what string) fate {
		tried[what]++
		if tried[what]%2 == 1 {
			return first
		}
		return second
	}
}

// With every fault at every step, the results are the same, and nothing is left after the experiment
// is deleted.
func TestFaultsDoNotChangeResults(t *testing.T) {
	t.Parallel()
	suffered := &hits{by: map[string]map[string]bool{}}
	t.Run("scenes", func(t *testing.T) {
		for n, name := range slices.Sorted(maps.Keys(scenes)) {
			t.Run(name, func(t *testing.T) { scenes[name].testFaults(t, n, suffered) })
		}
	})
	suffered.expectRoleCovered(t)
}

// testFaults runs the nth scene once without and once with each fault. Of three scenes in a row, each
// fault is sampled in one.
func (s *scene) testFaults(t *testing.T, n int, suffered *hits) {
	t.Helper()
	t.Parallel()
	want := s.undisturbed(t)
	for f, name := range slices.Sorted(maps.Keys(faults)) {
		if !isSampled(n + f) {
			continue
		}
		inject := faults[name]
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			inject(l)
			watched := s.begin(l)
			l.untilPhase("small", v1alpha1.ExperimentComplete)
			l.settle()
			ignored := cmp.Options{unwritten}
			if slices.Contains(s.invalidates, name) {
				ignored = append(ignored, cmpopts.IgnoreFields(end{}, "Invalid", "Runs"))
			}
			if diff := cmp.Diff(want, l.outcome(), ignored); diff != "" {
				t.Errorf("results differ (-want +got):\n%s", diff)
			}
			l.verifyChain("small")
			watched.deleteExperiment()
			suffered.add(name, l.line.hit)
		})
	}
}

// failReads fails the reads of each kind the first time, the fourth, the sixteenth, and so on, each
// time with another error; those of each object if all cases are tested.
func failReads() func(string) error {
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
			what = readKind(what)
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

// readKind leaves out which objects are read.
func readKind(what string) string {
	words := strings.Fields(what)
	if past := []string{"past", "the", "cache"}; len(words) > 4 && slices.Equal(words[1:4], past) {
		return strings.Join(words[:5], " ")
	}
	return strings.Join(words[:min(2, len(words))], " ")
}

// refuseOnce refuses each write for one reconcile, and checks that this reconcile reports it. Writes
// of statuses with the report are not refused.
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
		reported := l.messages()
		for what := range now {
			if !strings.Contains(reported, policyMessage(what)) {
				l.t.Errorf("nothing reports that the cluster refuses to %s:\n%s", what, l.describe())
			}
		}
		clear(now)
	}
}

func policyMessage(what string) string { return notHere + ": " + what }

// refusal is a refusal of the API server, with our text.
func refusal(n int, what string) error {
	things := schema.GroupResource{Resource: "things"}
	switch n % 3 {
	case 0:
		return injected{apierrors.NewForbidden(things, "thing", errors.New("exceeded quota, "+policyMessage(what)))}
	case 1:
		return injected{apierrors.NewForbidden(things, "thing", errors.New("admission webhook denied the request, "+policyMessage(what)))}
	default:
		detail := field.ErrorList{field.Forbidden(field.NewPath("spec"), policyMessage(what))}
		return injected{apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "thing", detail)}
	}
}

// messages are the texts of statuses, events and, if a status can't be written, the operator's log.
func (l *lab) messages() string {
	l.t.Helper()
	reported := slices.Clone(l.events.reported)
	for _, experiment := range l.experiments() {
		reported = append(reported, experiment.Status.WaitingFor)
		reported = append(append(reported, experiment.Status.Warnings...), conditionMessages(experiment.Status.Conditions)...)
	}
	for _, run := range l.runs() {
		reported = append(append(reported, run.Status.Warnings...), conditionMessages(run.Status.Conditions)...)
	}
	schedules := &v1alpha1.PerfScheduleList{}
	l.list(schedules)
	for _, schedule := range schedules.Items {
		reported = append(reported, conditionMessages(schedule.Status.Conditions)...)
	}
	for _, err := range l.passed {
		reported = append(reported, err.Error())
	}
	return strings.Join(reported, "\n")
}

func conditionMessages(conditions []metav1.Condition) []string {
	messages := make([]string, 0, len(conditions))
	for _, condition := range conditions {
		messages = append(messages, condition.Message)
	}
	return messages
}

// hits are the writes that faults have hit, by fault: "apply Kafka".
type hits struct {
	mutex sync.Mutex
	by    map[string]map[string]bool
	// played is the number of scenes times faults.
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

// notObjects are kinds in the role that are not objects of an experiment.
var notObjects = map[string]string{
	"events":                     "they use their own connection, and are not retried",
	"localsubjectaccessreviews":  "they are questions",
	"perfexperiments/finalizers": "it is the right to name the experiment as an owner",
	"perfruns/finalizers":        "it is the right to name the run as an owner",
	"perfschedules/finalizers":   "it is the right to name the schedule as an owner",
}

// scheduleWrites are those of the role that only schedules need: another test injects faults into
// them.
var scheduleWrites = []string{"apply perfexperiments", "apply perfschedules/status", "delete perfexperiments"}

// expectRoleCovered fails the test for each kind of write in the operator's role that no fault has
// hit.
func (h *hits) expectRoleCovered(t *testing.T) {
	t.Helper()
	if h.played < len(scenes)*len(faults) {
		t.Log("some scenes were skipped, or did not finish")
		return
	}
	for fault, disturbed := range h.by {
		missed := slices.DeleteFunc(allowedWrites(t), func(write string) bool { return disturbed[write] || slices.Contains(scheduleWrites[1:], write) })
		if len(disturbed) > 0 && len(missed) > 0 {
			t.Errorf("in no scene %q meets: %s", fault, strings.Join(missed, ", "))
		}
	}
}

// allowedWrites are the writes that the role allows.
func allowedWrites(t *testing.T) []string {
	t.Helper()
	found := map[string]bool{}
	for _, rule := range apiserver.ClusterRole(t, "rbac", "role.yaml").Rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if write := writeVerb(verb, resource); write != "" && notObjects[resource] == "" {
					found[write] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// writeVerb distinguishes writes by what they need: to create or change an object, to overwrite it as
// it was read, and to delete it.
func writeVerb(verb, resource string) string {
	switch verb {
	case "delete", "update":
		return verb + " " + resource
	case "create", "patch", "apply":
		return "apply " + resource
	default:
		return ""
	}
}
