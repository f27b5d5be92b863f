// SPDX-License-Identifier: Apache-2.0

package fit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/fit"
	"perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/testing/expect"
)

func pods(count int) []v1alpha1.EffectivePod {
	var made []v1alpha1.EffectivePod
	for i := range count {
		made = append(made, v1alpha1.EffectivePod{Name: fmt.Sprintf("pod-%d", i), UID: "1", Node: "node"})
	}
	return made
}

func at(year int) *metav1.Time {
	return &metav1.Time{Time: time.Date(year, 12, 31, 23, 59, 59, 0, time.UTC)}
}

func module(pods []v1alpha1.EffectivePod) *v1alpha1.EffectiveSystem {
	return &v1alpha1.EffectiveSystem{Modules: []v1alpha1.EffectiveModule{{Name: "a", Pods: pods}}}
}

func condition(reason string) metav1.Condition {
	return metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: *at(2026)}
}

func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		status, want v1alpha1.PerfRunStatus
		leftOut      string
	}{
		"Fits": {
			status: v1alpha1.PerfRunStatus{Message: "on", Effective: module(pods(100)), Timings: v1alpha1.RunTimings{Finish: at(9999)}},
			want:   v1alpha1.PerfRunStatus{Message: "on", Effective: module(pods(100)), Timings: v1alpha1.RunTimings{Finish: at(9999)}},
		},
		"LongList": {
			status:  v1alpha1.PerfRunStatus{Effective: module(pods(101))},
			want:    v1alpha1.PerfRunStatus{Effective: module(pods(100))},
			leftOut: "1 value of effective.modules[].pods left out",
		},
		"SameName": {
			status:  v1alpha1.PerfRunStatus{Effective: module(append(pods(2), pods(1)...))},
			want:    v1alpha1.PerfRunStatus{Effective: module(pods(2))},
			leftOut: "1 value of effective.modules[].pods left out",
		},
		"LongText": {
			status:  v1alpha1.PerfRunStatus{Servers: &v1alpha1.ServersStatus{Notes: []string{"a", strings.Repeat("ü", 4<<20)}}},
			want:    v1alpha1.PerfRunStatus{Servers: &v1alpha1.ServersStatus{Notes: []string{"a", strings.Repeat("ü", 1022) + "…"}}},
			leftOut: "1 text of servers.notes[] shortened",
		},
		"NoTime": {
			status:  v1alpha1.PerfRunStatus{Message: "on", Timings: v1alpha1.RunTimings{Ready: at(2026), Finish: at(10_000)}},
			want:    v1alpha1.PerfRunStatus{Message: "on", Timings: v1alpha1.RunTimings{Ready: at(2026)}},
			leftOut: "1 value of timings.finish left out",
		},
		// A value is omitted together with its required time.
		"NeededTime": {
			status:  v1alpha1.PerfRunStatus{Loads: []v1alpha1.LoadStatus{{Name: "a", Progress: &v1alpha1.LoadProgress{Time: *at(-1)}}}},
			want:    v1alpha1.PerfRunStatus{Loads: []v1alpha1.LoadStatus{{Name: "a"}}},
			leftOut: "1 value of loads[].progress left out, 1 value of loads[].progress.time left out",
		},
		// A part of a machine-readable word would be another word.
		"BadWord": {
			status:  v1alpha1.PerfRunStatus{Conditions: []metav1.Condition{condition("Ready"), {Type: "Valid", Status: "Perhaps", Reason: "No", LastTransitionTime: *at(2026)}, {Type: "Stalled", Status: "True", Reason: "not one word", LastTransitionTime: *at(2026)}}},
			want:    v1alpha1.PerfRunStatus{Conditions: []metav1.Condition{condition("Ready")}},
			leftOut: "2 values of conditions left out, 1 value of conditions[].reason left out, 1 value of conditions[].status left out",
		},
		"NoCharacters": {
			status: v1alpha1.PerfRunStatus{Message: "a\xffb"},
			want:   v1alpha1.PerfRunStatus{Message: "a\ufffdb"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			leftOut, err := fit.Status("perfruns", &c.status)
			expect.NoError(t, err)
			if c.leftOut != "" {
				c.leftOut = "not everything fits into the status: " + c.leftOut
			}
			expect.Equal(t, c.leftOut, leftOut)
			expect.Equal(t, encoded(t, c.want), encoded(t, c.status))
		})
	}
}

// A system of thousands of pods with long names leaves room for the observations.
func TestStatusShrinksLargestLists(t *testing.T) {
	status := v1alpha1.PerfRunStatus{Effective: &v1alpha1.EffectiveSystem{}}
	for i := range 128 {
		own := pods(100)
		for at := range own {
			own[at].Node = strings.Repeat("n", 250)
		}
		status.Effective.Modules = append(status.Effective.Modules, v1alpha1.EffectiveModule{Name: fmt.Sprintf("mod-%d", i), Pods: own})
	}
	for i := range 1000 {
		status.Observations = append(status.Observations, v1alpha1.Observation{Metric: fmt.Sprintf("load/transaction-%d/average", i), Value: "12.3456"})
	}
	leftOut, err := fit.Status("perfruns", &status)
	expect.NoError(t, err)
	if size := len(encoded(t, status)); size > fit.MaxBytes {
		t.Errorf("the status takes %d bytes", size)
	}
	expect.Equal(t, []int{1000, 128, 12}, []int{len(status.Observations), len(status.Effective.Modules), len(status.Effective.Modules[7].Pods)})
	expect.Contains(t, leftOut, []string{"11264 values of effective.modules[].pods left out"})
}

func TestEveryKindHasBounds(t *testing.T) {
	for resource, status := range statuses() {
		leftOut, err := status.fit()
		if err != nil || leftOut != "" {
			t.Errorf("%s: %q, %v", resource, leftOut, err)
		}
	}
	if _, err := fit.Status("pods", &v1alpha1.PerfRunStatus{}); err == nil {
		t.Error("pods have no status of ours")
	}
}

// one is a status of a kind.
type one struct {
	kind, resource string
	value          any
	fit            func() (string, error)
}

func statuses() map[string]one {
	return map[string]one{
		"perfruns":        of[v1alpha1.PerfRunStatus]("PerfRun", "perfruns"),
		"perfexperiments": of[v1alpha1.PerfExperimentStatus]("PerfExperiment", "perfexperiments"),
		"perfschedules":   of[v1alpha1.PerfScheduleStatus]("PerfSchedule", "perfschedules"),
	}
}

func of[T any](kind, resource string) one {
	status := new(T)
	return one{kind, resource, status, func() (string, error) { return fit.Status(resource, status) }}
}

// refused returns the errors for which the API server would reject the status.
func (o one) refused(t testing.TB) []string {
	t.Helper()
	fields := map[string]any{}
	expect.NoError(t, utiljson.Unmarshal([]byte(encoded(t, o.value)), &fields))
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": o.kind, "metadata": map[string]any{"name": "a"}, "status": fields,
	}}
	var faults []string
	for _, fault := range schema.Check(t.Context(), object) {
		if strings.HasPrefix(fault.Field, "status") {
			faults = append(faults, fault.Error())
		}
	}
	return faults
}

func encoded(t testing.TB, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	expect.NoError(t, err)
	return string(text)
}
