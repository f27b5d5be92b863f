// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/testing/expect"
)

// scenario: users from the start until the end of an import, which begins a minute later; and more
// users two minutes after the start.
func scenario() []v1alpha1.Load {
	until, create, more := users(), imports(), users()
	until.Duration, until.Until = nil, "create"
	create.StartAfter = seconds(60)
	more.Name, more.StartAfter = "more", seconds(120)
	return []v1alpha1.Load{until, create, more}
}

// does describes the actions of a timeline.
func does(actions []load.Action) []string {
	words := []string{}
	for _, action := range actions {
		switch {
		case action.Start:
			words = append(words, "start "+action.Load.Name)
		case action.Stop:
			words = append(words, "stop "+action.Load.Name)
		default:
			words = append(words, action.Load.Name+" at "+action.At.Format("15:04:05"))
		}
	}
	return words
}

// A load that follows another starts when that one has ended, whatever else is running.
func TestTimelineOfConsecutiveLoads(t *testing.T) {
	first, second := imports(), imports()
	second.Name, second.After, second.StartAfter = "second", "create", seconds(30)
	loads := []v1alpha1.Load{first, second}
	on := v1alpha1.LoadStatus{Name: "create", CreateTime: stamp(0), StartTime: stamp(10)}
	over := on
	over.FinishTime = stamp(100)
	for name, test := range map[string]struct {
		now    int
		status v1alpha1.LoadStatus
		state  load.State
		want   []string
	}{
		"the first is on":              {now: 90, status: on, state: load.State{Started: true}, want: []string{}},
		"the first is over":            {now: 101, status: over, state: load.State{Ended: true}, want: []string{"second at 12:02:10"}},
		"the pause is over":            {now: 130, status: over, state: load.State{Ended: true}, want: []string{"start second"}},
		"long after the first's start": {now: 5000, status: on, state: load.State{Started: true}, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			got := load.Timeline(loads, []v1alpha1.LoadStatus{test.status}, map[string]load.State{"create": test.state}, stamp(test.now).Time)
			expect.Equal(t, test.want, does(got), "actions")
		})
	}
}

func TestTimeline(t *testing.T) {
	created := v1alpha1.LoadStatus{Name: "cico", CreateTime: stamp(0)}
	started := v1alpha1.LoadStatus{Name: "cico", CreateTime: stamp(0), StartTime: stamp(20)}
	importing := v1alpha1.LoadStatus{Name: "create", CreateTime: stamp(80), StartTime: stamp(90)}
	later := v1alpha1.LoadStatus{Name: "more", CreateTime: stamp(140), StartTime: stamp(145)}
	stopped := started
	stopped.StopTime = stamp(200)
	on, over := load.State{Started: true}, load.State{Started: true, Ended: true}
	for name, test := range map[string]struct {
		now      int
		statuses []v1alpha1.LoadStatus
		states   map[string]load.State
		want     []string
	}{
		"at first the load without a delay":   {now: 0, want: []string{"start cico"}},
		"delays count from the first request": {now: 500, statuses: []v1alpha1.LoadStatus{created}, want: []string{}},
		"the next ones have their time": {
			now: 79, statuses: []v1alpha1.LoadStatus{started}, states: map[string]load.State{"cico": on},
			want: []string{"create at 12:01:20", "more at 12:02:20"},
		},
		"the next one is due": {
			now: 80, statuses: []v1alpha1.LoadStatus{started}, states: map[string]load.State{"cico": on},
			want: []string{"start create", "more at 12:02:20"},
		},
		"late, both are due": {
			now: 1000, statuses: []v1alpha1.LoadStatus{started}, states: map[string]load.State{"cico": on},
			want: []string{"start create", "start more"},
		},
		"all are on": {
			now: 150, statuses: []v1alpha1.LoadStatus{started, importing, later}, states: map[string]load.State{"cico": on, "create": on, "more": on},
			want: []string{},
		},
		"the import has ended": {
			now: 200, statuses: []v1alpha1.LoadStatus{started, importing, later}, states: map[string]load.State{"cico": on, "create": over, "more": on},
			want: []string{"stop cico"},
		},
		"told to end once": {
			now: 201, statuses: []v1alpha1.LoadStatus{stopped, importing, later}, states: map[string]load.State{"cico": on, "create": over, "more": on},
			want: []string{},
		},
		"ended by itself": {
			now: 201, statuses: []v1alpha1.LoadStatus{started, importing, later}, states: map[string]load.State{"cico": over, "create": over, "more": on},
			want: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, test.want, does(load.Timeline(scenario(), test.statuses, test.states, at(test.now))), "actions")
		})
	}
}

func TestTimelineStopsUsersAfterEarlyImportEnd(t *testing.T) {
	loads := scenario()[:2]
	loads[1].StartAfter = nil
	statuses := []v1alpha1.LoadStatus{{Name: "cico", CreateTime: stamp(0)}, {Name: "create", CreateTime: stamp(0), StartTime: stamp(5)}}
	states := map[string]load.State{"cico": {}, "create": {Started: true, Ended: true}}
	if actions := load.Timeline(loads, statuses, states, at(10)); len(actions) != 0 {
		t.Errorf("before the users are up: %v, want no actions", does(actions))
	}
	states["cico"] = load.State{Started: true}
	expect.Equal(t, []string{"stop cico"}, does(load.Timeline(loads, statuses, states, at(11))), "once they are")
}

func TestProgress(t *testing.T) {
	run := &v1alpha1.PerfRun{}
	run.Spec.Scenario.Loads = scenario()
	run.Status.Loads = []v1alpha1.LoadStatus{{Name: "cico", StartTime: stamp(0)}, {Name: "create", StartTime: stamp(60)}, {Name: "more", StartTime: stamp(50)}}
	states := map[string]load.State{
		"cico":   {Started: true, Message: "running"},
		"create": {Started: true, Ended: true, Message: "ended"},
		"more":   {Started: true, Message: "running"},
	}
	want := "cico: running 50s, until create ends; create: ended; more: running 10s of 1m30s"
	expect.Equal(t, want, load.Progress(run, states, at(65)), "progress")
	states["create"] = load.State{Message: "starting: 0 of 1 runner is up"}
	want = "cico: running 50s, until create ends; create: starting: 0 of 1 runner is up; more: running 10s of 1m30s"
	expect.Equal(t, want, load.Progress(run, states, at(65)), "progress")
	states["create"] = load.State{Started: true}
	run.Spec.Scenario.Loads = scenario()[1:2]
	expect.Equal(t, "create: running 0s", load.Progress(run, states, at(65)), "progress of an import")

	// An import at each level, of more records than the declared ones in all.
	run.Spec.Scenario.Capacity, run.Spec.Levels = &v1alpha1.Capacity{Min: 100}, []int32{100, 200, 400}
	run.Status.Loads[1].Progress = &v1alpha1.LoadProgress{
		Records: new(int64(650)), RequestsPerSecond: "1", ErrorPercent: "0", P95: []v1alpha1.TransactionProgress{{Transaction: "Import", Milliseconds: "60000"}},
	}
	expect.Equal(t, "create: running 0s, 650 of 700 records", load.Progress(run, states, at(65)), "progress of levels")
}

// Each progress report is a write, so there are few of them.
func TestProgressIsReportedRarely(t *testing.T) {
	words := map[time.Duration]bool{}
	for elapsed := range 125 {
		words[load.ProgressStep(time.Duration(elapsed)*time.Second)] = true
	}
	want := []time.Duration{0, 10 * time.Second, 50 * time.Second, 100 * time.Second}
	expect.Equal(t, want, slices.Sorted(maps.Keys(words)), "words in 125 s")
}

func TestActive(t *testing.T) {
	pod := func(phase corev1.PodPhase) corev1.Pod { return corev1.Pod{Status: corev1.PodStatus{Phase: phase}} }
	over := []corev1.Pod{pod(corev1.PodSucceeded), pod(corev1.PodFailed)}
	if load.Active(over) || load.Active(nil) {
		t.Error("pods that are over, or none, are active")
	}
	for _, phase := range []corev1.PodPhase{corev1.PodPending, corev1.PodRunning, corev1.PodUnknown, ""} {
		if !load.Active(append(over, pod(phase))) {
			t.Errorf("a pod that is %q is not active", phase)
		}
	}
}
