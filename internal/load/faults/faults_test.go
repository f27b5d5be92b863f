// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/testing/expect"
)

var start = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func killed(name string, within time.Duration) v1alpha1.Fault {
	return v1alpha1.Fault{
		Name: name, After: metav1.Duration{Duration: time.Minute}, Within: &metav1.Duration{Duration: within},
		Kill: &v1alpha1.KillFault{Module: "gateway", Pods: ptr.To[int32](2)},
	}
}

func spec(seed int64, arm string) *v1alpha1.PerfRunSpec {
	return &v1alpha1.PerfRunSpec{Seed: seed, Arm: arm, Scenario: v1alpha1.Scenario{Name: "search"}}
}

func at(name string, seconds int) v1alpha1.LoadStatus {
	return v1alpha1.LoadStatus{Name: name, StartTime: &metav1.Time{Time: start.Add(time.Duration(seconds) * time.Second)}}
}

// A fault disturbs the arms of a block at the same time; blocks and faults differ.
func TestDelaysAreThoseOfTheBlock(t *testing.T) {
	met := map[time.Duration]bool{}
	for seed := range int64(50) {
		for _, name := range []string{"a", "b"} {
			fault := killed(name, 20*time.Second)
			delay := faults.Delay(fault, spec(seed, "full"))
			expect.Equal(t, delay, faults.Delay(fault, spec(seed, "half")), "seed %d: the delay of the other arm", seed)
			if delay < time.Minute || delay >= 80*time.Second {
				t.Errorf("seed %d: the delay is %s", seed, delay)
			}
			met[delay] = true
		}
	}
	if len(met) < 95 {
		t.Errorf("of 100 delays %d are different", len(met))
	}
	expect.Equal(t, time.Minute, faults.Delay(killed("a", 0), spec(1, "full")), "the delay without a range")
}

func TestDue(t *testing.T) {
	fault := killed("a", 0)
	_, known := faults.Due(fault, spec(1, ""), []v1alpha1.LoadStatus{{Name: "cico"}})
	expect.Equal(t, false, known, "due before any load has started")
	loads := []v1alpha1.LoadStatus{at("import", 90), at("cico", 0), {Name: "later"}}
	due, _ := faults.Due(fault, spec(1, ""), loads)
	expect.Equal(t, start.Add(time.Minute), due, "due after the scenario's start")
	fault.Load = "import"
	due, _ = faults.Due(fault, spec(1, ""), loads)
	expect.Equal(t, start.Add(150*time.Second), due, "due after the import's start")
	fault.Load = "later"
	_, known = faults.Due(fault, spec(1, ""), loads)
	expect.Equal(t, false, known, "due before its load has started")
}

func TestChoose(t *testing.T) {
	var pods []corev1.Pod
	for i := range 5 {
		pods = append(pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod-", i), UID: types.UID(fmt.Sprint(i))}})
	}
	struck := map[string]int{}
	for seed := range int64(200) {
		targets := faults.Choose(killed("a", 0), spec(seed, ""), pods, 2)
		if len(targets) != 2 || targets[0].Pod == targets[1].Pod {
			t.Fatalf("seed %d: the targets are %v", seed, targets)
		}
		reversed := []corev1.Pod{pods[4], pods[3], pods[2], pods[1], pods[0]}
		expect.Equal(t, targets, faults.Choose(killed("a", 0), spec(seed, ""), reversed, 2), "seed %d: targets in another order", seed)
		for _, target := range targets {
			struck[target.Pod]++
		}
	}
	for name, count := range struck {
		if count < 50 || count > 110 {
			t.Errorf("%s is struck %d times of 400, about 80 are due", name, count)
		}
	}
	expect.Equal(t, 1, len(faults.Choose(killed("a", 0), spec(1, ""), pods[:1], 2)), "targets of one pod")
}

// A lost node takes all pods that run on it.
func TestAddNeighbors(t *testing.T) {
	var pods []corev1.Pod
	for i := range 100 {
		pods = append(pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod-", i), UID: types.UID(fmt.Sprint(i))}, Spec: corev1.PodSpec{NodeName: fmt.Sprint("node-", i%10)},
		})
	}
	chosen := []v1alpha1.FaultTarget{{Pod: "pod-13", UID: "13", Node: "node-3"}}
	targets := faults.AddNeighbors(chosen, pods)
	expect.Equal(t, 10, len(targets), "targets")
	expect.Equal(t, chosen[0], targets[0], "the first target")
	for _, target := range targets {
		expect.Equal(t, "node-3", target.Node, "the node of %s", target.Pod)
	}
}

// Restarts while a fault is observed are attributed to it, all others count.
func TestAllowRestarts(t *testing.T) {
	first, second := killed("a", 0), killed("b", 0)
	statuses := []v1alpha1.RunFault{{Name: "a"}, {Name: "b"}}
	after := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	expect.Equal(t, int32(0), faults.AllowRestarts(nil, statuses, 1, after(0)), "before any fault")
	faults.Begin(&statuses[0], first, after(10))
	expect.Equal(t, int32(1), faults.AllowRestarts(nil, statuses, 2, after(20)), "during the first")
	expect.Equal(t, int32(2), faults.AllowRestarts(nil, statuses, 3, after(72)), "noticed after the first")
	expect.Equal(t, int32(2), faults.AllowRestarts(nil, statuses, 4, after(100)), "between them")
	faults.Begin(&statuses[1], second, after(120))
	expect.Equal(t, int32(4), faults.AllowRestarts(nil, statuses, 6, after(130)), "during the second")
	expect.Equal(t, int32(4), faults.AllowRestarts(nil, statuses, 7, after(300)), "after both")
	expect.Equal(t, int32(2), statuses[0].Restarts, "restarts of the first")
	expect.Equal(t, int32(2), statuses[1].Restarts, "restarts of the second")
}

// A JVM for which the memory no longer suffices restarts until the end of the run.
func TestRestartsOfLastingFaults(t *testing.T) {
	less, killed := killed("less", 0), killed("killed", 0)
	less.Kill, less.Restart = nil, &v1alpha1.RestartFault{Module: "a", Memory: resource.NewQuantity(1<<28, resource.BinarySI)}
	declared := []v1alpha1.Fault{less, killed}
	statuses := []v1alpha1.RunFault{{Name: "less"}, {Name: "killed"}}
	after := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	expect.Equal(t, int32(0), faults.AllowRestarts(declared, statuses, 1, after(0)), "before any fault")
	faults.Begin(&statuses[0], less, after(10))
	expect.Equal(t, int32(3), faults.AllowRestarts(declared, statuses, 4, after(60)), "during the observation")
	expect.Equal(t, int32(5), faults.AllowRestarts(declared, statuses, 6, after(100)), "after it")
	faults.Begin(&statuses[1], killed, after(120))
	expect.Equal(t, int32(7), faults.AllowRestarts(declared, statuses, 8, after(130)), "during another")
	expect.Equal(t, int32(8), faults.AllowRestarts(declared, statuses, 9, after(300)), "after all")
	restart := func(edit func(*v1alpha1.RestartFault)) v1alpha1.Fault {
		fault := v1alpha1.Fault{Name: "less", Restart: &v1alpha1.RestartFault{Module: "a"}}
		edit(fault.Restart)
		return fault
	}
	for name, tc := range map[string]struct {
		fault v1alpha1.Fault
		want  int32
	}{
		"a rolling restart":          {restart(func(*v1alpha1.RestartFault) {}), 0},
		"an upgrade":                 {restart(func(r *v1alpha1.RestartFault) { r.Image = "a:2" }), 2},
		"a restart of PostgreSQL":    {restart(func(r *v1alpha1.RestartFault) { r.Postgres = &v1alpha1.PostgresRestart{} }), 0},
		"an upgrade of PostgreSQL":   {restart(func(r *v1alpha1.RestartFault) { r.Postgres = &v1alpha1.PostgresRestart{Image: "p:2"} }), 2},
		"an upgrade of Kafka":        {restart(func(r *v1alpha1.RestartFault) { r.Kafka = &v1alpha1.KafkaRestart{Version: "4.3.1"} }), 2},
		"a restart of Kafka's nodes": {restart(func(r *v1alpha1.RestartFault) { r.Kafka = &v1alpha1.KafkaRestart{} }), 0},
	} {
		one := []v1alpha1.RunFault{{Name: "less"}}
		faults.Begin(&one[0], tc.fault, after(0))
		expect.Equal(t, tc.want, faults.AllowRestarts([]v1alpha1.Fault{tc.fault}, one, 2, after(1000)), "%s", name)
	}
}

// Pods that appear after a fault may not disappear again after its observation.
func TestTrackReplacements(t *testing.T) {
	pod := func(uid types.UID) corev1.Pod { return corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: uid}} }
	known := &v1alpha1.EffectiveSystem{Modules: []v1alpha1.EffectiveModule{{Pods: []v1alpha1.EffectivePod{{UID: "before"}}}}}
	statuses := []v1alpha1.RunFault{{Name: "a"}}
	track := func(seconds int, present ...corev1.Pod) int32 {
		return faults.TrackReplacements(statuses, known, present, start.Add(time.Duration(seconds)*time.Second))
	}
	expect.Equal(t, int32(0), track(5, pod("other")), "before the fault")
	faults.Begin(&statuses[0], killed("a", 0), start.Add(10*time.Second))
	expect.Equal(t, int32(0), track(20, pod("before"), pod("new")), "when the first has come")
	expect.Equal(t, int32(1), track(30, pod("newer")), "when that has gone")
	expect.Equal(t, int32(1), track(100, pod("newer"), pod("newest")), "when the observation is over")
	expect.Equal(t, int32(2), track(120, pod("newest")), "when the second has gone")
	expect.Equal(t, 2, len(statuses[0].Replacements), "recorded pods")
}

func TestProgress(t *testing.T) {
	status := v1alpha1.RunFault{Name: "lost", Due: metav1.NewMicroTime(start.Add(40 * time.Second))}
	begun := status
	faults.Begin(&begun, killed("lost", 0), start.Add(41*time.Second))
	for after, want := range map[time.Duration]string{5 * time.Second: "fault lost in 35s", 40 * time.Second: "fault lost is due"} {
		expect.Equal(t, want, faults.Progress([]v1alpha1.RunFault{status}, start.Add(after)), "after %s", after)
	}
	expect.Equal(t, "fault lost began 19s ago", faults.Progress([]v1alpha1.RunFault{begun}, start.Add(time.Minute)), "while it is observed")
	expect.Equal(t, "", faults.Progress([]v1alpha1.RunFault{begun}, start.Add(time.Hour)), "when it is over")
}

// The field of a sign may be a text, a number or a truth value.
func TestShows(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"phase": "Running", "jobs": int64(1), "done": true}}}
	for field, values := range map[string][2]string{"phase": {"Running", "running"}, "jobs": {"1", "2"}, "done": {"true", "1"}, "none": {"", ""}} {
		shows := func(value string) bool {
			return faults.Shows(object, v1alpha1.FaultSign{Field: "status." + field, Value: value})
		}
		if field != "none" && !shows(values[0]) || shows(values[1]) {
			t.Errorf("field %s shows %q: %t, %q: %t", field, values[0], shows(values[0]), values[1], shows(values[1]))
		}
	}
}
