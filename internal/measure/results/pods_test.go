// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// podUse is the use of a fictional pod, with its start and end.
type podUse struct {
	pod      string
	cores    float64
	from, to int
}

func usedBy(pods ...podUse) *payload.Samples {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	for _, own := range pods {
		recorder.Samples.SetContainer(payload.Container{Component: "module/mod-users", Instance: own.pod + "/main", Node: "worker-1"})
		for minute := own.from; minute <= own.to; minute++ {
			recorder.Record("module/mod-users", own.pod+"/main", "cpu", "cores", minutes(float64(minute)), own.cores-0.01)
			recorder.Record("module/mod-users", own.pod+"/sidecar", "cpu", "cores", minutes(float64(minute)), 0.01)
			recorder.Record("module/mod-users", own.pod+"/main", "memory", "MiB", minutes(float64(minute)), 300)
		}
	}
	return recorder.Samples
}

func TestPodsOfAModule(t *testing.T) {
	samples := usedBy(podUse{"users-b", 0.5, 0, 30}, podUse{"users-a", 0.4, 0, 30})
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	recorder.Record("module/mod-single", "single-a/main", "cpu", "cores", minutes(10), 9)
	recorder.Record("kafka/broker-0", "broker-0/kafka", "cpu", "cores", minutes(10), 9)
	all, err := payload.MergeSamples(samples, recorder.Samples)
	if err != nil {
		t.Fatal(err)
	}
	got, uneven := results.Pods(all, window("", 5, 25))
	want := []v1alpha1.PodUse{
		{Name: "module/mod-users/pod-1", Pod: "users-a", Node: "worker-1", CPU: "0.4", Memory: "300"},
		{Name: "module/mod-users/pod-2", Pod: "users-b", Node: "worker-1", CPU: "0.5", Memory: "300"},
	}
	if diff := cmp.Diff(want, got); diff != "" || len(uneven) != 0 {
		t.Errorf("pods (-want +got):\n%s\nuneven: %q", diff, uneven)
	}
	if sum := values(results.ObserveServers(all, window("", 5, 25)))["module/mod-users/cpu/average"]; sum != "0.9 cores" {
		t.Errorf("the module's CPU is %s, want the sum of its pods'", sum)
	}
}

func TestPodsAreBounded(t *testing.T) {
	var pods []podUse
	for i := range 30 {
		pods = append(pods, podUse{fmt.Sprintf("users-%02d", i), 0.1, 0, 5})
	}
	if got, _ := results.Pods(usedBy(pods...), window("", 0, 5)); len(got) != 16 || got[15].Pod != "users-15" {
		t.Errorf("%d pods are told, want the first 16", len(got))
	}
}

func TestUnevenPods(t *testing.T) {
	for name, test := range map[string]struct {
		pods []podUse
		want string
	}{
		"even":         {pods: []podUse{{"a", 0.4, 0, 30}, {"b", 0.5, 0, 30}}},
		"up to double": {pods: []podUse{{"a", 0.25, 0, 30}, {"b", 0.5, 0, 30}}},
		"one of two": {
			pods: []podUse{{"a", 0.1, 0, 30}, {"b", 0.9, 0, 30}},
			want: `pod b took 90 % of the CPU of module "mod-users" (1 cores in 2 pods), more than twice the average of its other pods: the load is not shared evenly`,
		},
		"one of three":                       {pods: []podUse{{"a", 0.2, 0, 30}, {"b", 0.2, 0, 30}, {"c", 0.6, 0, 30}}, want: "pod c took 60 %"},
		"a little more than the third":       {pods: []podUse{{"a", 0.3, 0, 30}, {"b", 0.3, 0, 30}, {"c", 0.5, 0, 30}}},
		"little at all":                      {pods: []podUse{{"a", 0.02, 0, 30}, {"b", 0.07, 0, 30}}},
		"one that took another's place":      {pods: []podUse{{"a", 0.1, 0, 6}, {"b", 0.9, 7, 30}}},
		"one of two, beside one that is new": {pods: []podUse{{"a", 0.1, 0, 30}, {"b", 0.9, 0, 30}, {"c", 5, 20, 30}}, want: "pod b took 90 %"},
	} {
		_, uneven := results.Pods(usedBy(test.pods...), window("", 5, 25))
		told := strings.Join(uneven, "; ")
		if !strings.Contains(told, test.want) || (told == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, told, test.want)
		}
	}
}

// In a short load one pod's figures may cover its start and another's the load; the first figure of
// a longer load also covers the time before it.
func TestPodStartIsNotUneven(t *testing.T) {
	samples := usedBy(podUse{"a", 0.1, 5, 30}, podUse{"b", 0.9, 5, 30})
	for name, test := range map[string]struct {
		from, to float64
		uneven   bool
	}{
		"too short to tell":  {5, 6, false},
		"as short as may be": {5, 7, true},
	} {
		if _, told := results.Pods(samples, window("", test.from, test.to)); (len(told) > 0) != test.uneven {
			t.Errorf("%s: told %q", name, told)
		}
	}
	busyStart := usedBy(podUse{"a", 0.1, 5, 8}, podUse{"b", 0.1, 6, 8}, podUse{"b", 0.9, 5, 5})
	if _, told := results.Pods(busyStart, window("", 5, 8)); len(told) > 0 {
		t.Errorf("told %q of pods of which one was started later", told)
	}
}
