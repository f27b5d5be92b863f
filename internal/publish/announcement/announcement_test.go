// SPDX-License-Identifier: Apache-2.0

package announcement_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/publish/announcement"
	"perflab.dev/perflab/internal/testing/expect"
)

var ended = metav1.Time{Time: time.Date(2026, time.March, 1, 8, 0, 0, 0, time.UTC)}

// complete returns a complete experiment after which two series had changed.
func complete() *v1alpha1.PerfExperiment {
	experiment := &v1alpha1.PerfExperiment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "lab", Name: "heap", UID: "u-1", Annotations: map[string]string{v1alpha1.AnnotationRelease: "2026.2"},
	}}
	status := &experiment.Status
	status.Phase, status.CompletionTime, status.Verdict, status.Report = v1alpha1.ExperimentComplete, &ended, "1 worse", "heap-report"
	status.Warnings = []string{"one", "two"}
	status.Comparisons = []v1alpha1.Comparison{
		{Scenario: "cico", Metric: "cico/Check-In/average", Arm: "large", Primary: true, Verdict: v1alpha1.VerdictWorse, Delta: "4.0", Scale: "ratio", Unit: "ms"},
		{Scenario: "cico", Metric: "cico/Check-In/average", Arm: "twin", Primary: true, Twin: true, Scale: "ratio"},
		{Scenario: "cico", Metric: "module/a/cpu/average", Arm: "large", Scale: "ratio"},
	}
	for _, metric := range []string{"cico/Check-In/average", "cico/Check-Out/average"} {
		status.Changes = append(status.Changes, v1alpha1.SeriesChange{
			Scenario: "cico", Metric: metric, Arm: "base", Verdict: v1alpha1.VerdictWorse, Delta: "6.1", Low: "4.0", High: "8.3", Unit: "%",
			Before: "2026.1", After: "2026.2", Experiments: []string{"heap-1", "heap"}, Time: ended, Sentence: metric + " rose",
			Differences: []string{strings.Repeat("x", 1000)},
		})
	}
	status.Announcement = announcement.Next(experiment, true)
	return experiment
}

func TestNewOfCompleteExperiment(t *testing.T) {
	all := announcement.New(complete())
	var types []string
	for _, one := range all {
		types = append(types, one.Type)
		if one.Source != "/apis/perflab.dev/v1alpha1/namespaces/lab/perfexperiments/heap" || one.Subject != "lab/heap" || !one.Time.Equal(ended.Time) {
			t.Errorf("%+v", one)
		}
	}
	if diff := cmp.Diff([]string{announcement.TypeCompleted, announcement.TypeChanged, announcement.TypeChanged}, types); diff != "" {
		t.Fatalf("-want +got\n%s", diff)
	}
	text, err := json.Marshal(all[0].Data)
	expect.NoError(t, err)
	want := `{"namespace":"lab","name":"heap","uid":"u-1","release":"2026.2","completed":"2026-03-01T08:00:00Z","verdict":"1 worse",` +
		`"verdicts":[{"scenario":"cico","metric":"cico/Check-In/average","arm":"large","verdict":"Worse","delta":"4.0","scale":"ratio","unit":"ms"}],` +
		`"warnings":2,"changes":2,"report":{"configMap":"heap-report","command":"perflab report heap -n lab"}}`
	expect.Equal(t, want, string(text))
	changed, is := all[1].Data.(announcement.Changed)
	if !is || changed.Bisect != "perflab bisect heap-1 heap -n lab" || len(changed.Change.Differences[0]) != 300 {
		t.Errorf("%+v", all[1].Data)
	}
}

// A receiver can detect repeated announcements by their ID, which is unique.
func TestIDs(t *testing.T) {
	ids := func(experiment *v1alpha1.PerfExperiment) []string {
		var found []string
		for _, one := range announcement.New(experiment) {
			found = append(found, one.ID)
		}
		return found
	}
	first := ids(complete())
	if diff := cmp.Diff(first, ids(complete())); diff != "" {
		t.Errorf("the same has other IDs:\n%s", diff)
	}
	known := first
	for name, change := range map[string]func(*v1alpha1.PerfExperiment){
		"another of the name":       func(e *v1alpha1.PerfExperiment) { e.UID = "u-2" },
		"complete with more blocks": func(e *v1alpha1.PerfExperiment) { e.Status.Announcement.Time = metav1.Time{Time: ended.Add(time.Hour)} },
	} {
		other := complete()
		change(other)
		known = append(known, ids(other)...)
		if slices.Sort(known); len(slices.Compact(slices.Clone(known))) != len(known) {
			t.Errorf("%s: two announcements have one ID", name)
		}
	}
}

func TestNext(t *testing.T) {
	stalled := &v1alpha1.PerfExperiment{Status: v1alpha1.PerfExperimentStatus{
		Phase:      v1alpha1.ExperimentStalled,
		Conditions: []metav1.Condition{{Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, LastTransitionTime: ended, Reason: "SpecChanged", Message: "put it back"}},
	}}
	stalled.Status.Announcement = announcement.Next(stalled, false)
	if told := announcement.New(stalled); len(told) != 1 || told[0].Type != announcement.TypeStalled || fmt.Sprint(told[0].Data) != "{{   } SpecChanged put it back}" {
		t.Errorf("of a stalled one %+v is told", told)
	}
	// The experiment continues, so the stall is no longer announced.
	stalled.Status.Phase = v1alpha1.ExperimentRunning
	if told := announcement.New(stalled); len(told) > 0 {
		t.Errorf("%+v", told)
	}
	for name, experiment := range map[string]*v1alpha1.PerfExperiment{"running": {Status: v1alpha1.PerfExperimentStatus{Phase: v1alpha1.ExperimentRunning}}, "new": {}} {
		if found := announcement.Next(experiment, true); found != nil {
			t.Errorf("%s: %+v", name, found)
		}
	}
	if found := announcement.Next(complete(), false); found != nil {
		t.Errorf("before its report: %+v", found)
	}
}

// Until the deadline, retries are neither too frequent nor too rare.
func TestRetryDelay(t *testing.T) {
	at, tries := time.Duration(0), 0
	for at < announcement.Deadline {
		at += announcement.RetryDelay(at)
		tries++
	}
	if tries < 20 || tries > 100 {
		t.Errorf("%d tries in a day", tries)
	}
}
