// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/payload"
)

// onNode is half an hour on a node with two CPUs, of which pods of the run use some cores; negative
// values of pressure and own mean unknown.
func onNode(busy, own, pressure float64) *payload.Samples {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	recorder.Samples.SetNode(payload.Node{Name: "worker-1", CPUs: 2})
	recorder.Samples.SetContainer(payload.Container{Component: "module/mod-users", Instance: "a/main", Node: "worker-1"})
	recorder.Samples.SetContainer(payload.Container{Component: "postgres/primary", Instance: "pg/main", Node: "worker-2"})
	for minute := 0.0; minute <= 30; minute += 0.25 {
		at := minutes(minute)
		recorder.Record("node", "worker-1", "cpu", "cores", at, busy)
		if pressure >= 0 {
			recorder.Record("node", "worker-1", "cpuPressure", "%", at, pressure)
		}
		if own >= 0 {
			// The metrics API's values are older than the round.
			recorder.Record("module/mod-users", "a/main", "cpu", "cores", at.Add(-11*time.Second), own)
			recorder.Record("module/mod-users", "a/sidecar", "cpu", "cores", at.Add(-11*time.Second), 0)
			recorder.Record("postgres/primary", "pg/main", "cpu", "cores", at.Add(-11*time.Second), 7)
		}
	}
	return recorder.Samples
}

func TestWhatOthersUseOfTheNode(t *testing.T) {
	got := values(results.ObserveServers(onNode(1.9, 0.5, 60), window("", 5, 25)))
	for metric, want := range map[string]string{
		"node/cpu/average": "1.9 cores", "node/otherCpu/average": "1.4 cores", "node/otherCpu/max": "1.4 cores", "node/cpuPressure/average": "60 %",
	} {
		if got[metric] != want {
			t.Errorf("%s is %q, want %q", metric, got[metric], want)
		}
	}
	if _, told := values(results.ObserveServers(onNode(1.9, -1, 60), window("", 5, 25)))["node/otherCpu/average"]; told {
		t.Error("other pods use CPU, although the use of the run's pods is unknown")
	}
	if got := values(results.ObserveServers(onNode(1.9, 0.5, 60), window("during-create", 5, 25)))["node/otherCpu/average@during-create"]; got != "1.4 cores" {
		t.Errorf("in a window others use %q, want 1.4 cores", got)
	}
}

// A figure of the pods covers the time before it, whatever the node's figures cover.
func TestANodesUseIsOfTheTimeOfThePodsFigures(t *testing.T) {
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	recorder.Samples.SetNode(payload.Node{Name: "n", CPUs: 4})
	recorder.Samples.SetContainer(payload.Container{Component: "module/m", Instance: "a/main", Node: "n"})
	for minute, busy := range []float64{0, 1, 3, 1, 3} {
		recorder.Record("node", "n", "cpu", "cores", minutes(float64(minute)), busy)
	}
	recorder.Record("module/m", "a/main", "cpu", "cores", minutes(0.5), 1)
	recorder.Record("module/m", "a/main", "cpu", "cores", minutes(2.5), 1)
	// Half a minute of 1, one minute of 3, half a minute of 1.
	if got := values(results.ObserveServers(recorder.Samples, window("", 0, 4)))["node/otherCpu/average"]; got != "1 cores" {
		t.Errorf("others use %s, want 1 cores", got)
	}
}

// A new runner works before its first figures; its work is not attributed to others.
func TestAPodThatIsNewIsNoNeighbour(t *testing.T) {
	samples := onNode(1.5, 0.5, 60)
	recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
	recorder.Samples.SetContainer(payload.Container{Component: "generator/cico", Instance: "k6/main", Node: "worker-1"})
	for minute := 10.0; minute <= 30; minute += 0.25 {
		recorder.Record("generator/cico", "k6/main", "cpu", "cores", minutes(minute).Add(-11*time.Second), 0.5)
	}
	for i := range samples.Series {
		if points := samples.Series[i].Points; samples.Series[i].Component == "node" && samples.Series[i].Resource == "cpu" {
			for at := range points {
				if points[at].At.Before(minutes(9.2)) {
					points[at].Value = 1
				}
			}
		}
	}
	both, err := payload.MergeSamples(samples, recorder.Samples)
	if err != nil {
		t.Fatal(err)
	}
	if got := values(results.ObserveServers(both, window("", 5, 25)))["node/otherCpu/max"]; got != "0.5 cores" {
		t.Errorf("others use %s at the most, want 0.5 cores", got)
	}
}

func TestCheckCalm(t *testing.T) {
	withLoad := func(at, load float64) *payload.Samples {
		recorder := payload.NewSampleRecorder("run", "pod", minutes(0))
		recorder.Record("node", "worker-1", "loadAverage", "1", minutes(at), load)
		recorder.Record("node", "worker-1", "loadAverage", "1", minutes(at+1), 9)
		both, err := payload.MergeSamples(onNode(1, 0.5, 10), recorder.Samples)
		if err != nil {
			t.Fatal(err)
		}
		return both
	}
	for name, test := range map[string]struct {
		samples *payload.Samples
		want    string
	}{
		"more than twice as many tasks as CPUs": {withLoad(0, 4.26), `node "worker-1" was busy before the loads started: a load average of 4.3 on its 2 CPUs over the minute before, from other work or starting modules; lengthen measurement.warmUp`},
		"modules that start":                    {withLoad(0, 4), ""},
		"under the loads":                       {withLoad(6, 9), ""},
		"not known":                             {onNode(1, 0.5, 10), ""},
		"without the run's pods":                {elsewhere(withLoad(0, 9)), ""},
	} {
		use, _ := results.FindNode(test.samples, window("", 5, 25))
		if got := results.CheckWaiting(use); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestCheckNode(t *testing.T) {
	limit := func(percent int32) v1alpha1.Validity { return v1alpha1.Validity{MaxOtherCPUPercent: &percent} }
	for name, test := range map[string]struct {
		samples  *payload.Samples
		validity v1alpha1.Validity
		fault    string
		warning  string
	}{
		"starved by a neighbour": {
			samples: onNode(1.98, 0.48, 95),
			fault:   `node "worker-1" had too little CPU left for the run: its 2 CPUs were 99 % busy, 75 % with other work, and tasks waited for a CPU in 95 % of the time; wait for the other work to finish, move it to other nodes, or raise validity.maxOtherCPUPercent, which is 50`,
		},
		"starved nearly to death": {samples: onNode(1.98, 0.13, 95), fault: "93 % with other work"},
		"full by itself": {
			samples: onNode(1.98, 1.5, 95),
			warning: `node "worker-1" had no CPU left: its 2 CPUs were 99 % busy, 24 % with other work, and tasks waited for a CPU in 95 % of the time; response times include waits for a CPU`,
		},
		"full beside a cluster's own daemons":      {samples: onNode(2, 1.4, 80), warning: "30 % with other work"},
		"others where CPUs are idle":               {samples: onNode(1.5, 0.2, 60)},
		"others without pressure":                  {samples: onNode(1.9, 0.2, 10)},
		"quotas make tasks wait on an idle node":   {samples: onNode(0.6, 0.5, 90)},
		"a kernel that does not tell of waiting":   {samples: onNode(1.98, 0.3, -1), fault: "were 99 % busy, 84 % with other work; wait"},
		"the use of the run's pods is unknown":     {samples: onNode(1.98, -1, 95), warning: "were 99 % busy, and tasks waited for a CPU in 95 %"},
		"more is allowed":                          {samples: onNode(1.98, 0.48, 95), validity: limit(80), warning: "75 % with other work"},
		"any is allowed":                           {samples: onNode(2, 0, 95), validity: limit(100), warning: "100 % with other work"},
		"none is allowed":                          {samples: onNode(2, 1.9, 95), validity: limit(0), fault: "maxOtherCPUPercent, which is 0"},
		"a node without the run's pods, full":      {samples: elsewhere(onNode(2, 0, 95))},
		"named neighbours, of more than are named": {samples: among(onNode(2, 1.9, 95), "a", "b", "c", "d"), warning: "in 95 % of the time (other pods of the run's namespace: a, b, c and 1 more); response"},
	} {
		use, known := results.FindNode(test.samples, window("", 5, 25))
		if !known || use.Name != "worker-1" {
			t.Fatalf("%s: the node is %+v, %t", name, use, known)
		}
		fault, warning := results.CheckNode(use, test.validity)
		message := ""
		if fault != nil {
			message = fault.Message
		}
		if !strings.Contains(message, test.fault) || (message == "") != (test.fault == "") {
			t.Errorf("%s: the fault is %q, want %q", name, message, test.fault)
		}
		if !strings.Contains(warning, test.warning) || (warning == "") != (test.warning == "") {
			t.Errorf("%s: the warning is %q, want %q", name, warning, test.warning)
		}
	}
}

// Few figures are not enough to attribute the use of CPU to others.
func TestShortUseByOthersIsAllowed(t *testing.T) {
	samples := onNode(1.98, 0.48, 95)
	use, _ := results.FindNode(samples, window("", 5, 6))
	if use.Known = 30 * time.Second; use.OtherPercent < 70 {
		t.Fatalf("others used %v %%", use.OtherPercent)
	}
	if fault, warning := results.CheckNode(use, v1alpha1.Validity{}); fault != nil || !strings.Contains(warning, "75 % with other work") {
		t.Errorf("after 30 s the fault is %v, the warning %q", fault, warning)
	}
	use.Known = 45 * time.Second
	if fault, _ := results.CheckNode(use, v1alpha1.Validity{}); fault == nil {
		t.Error("after 45 s, no other pod is reported")
	}
}

func elsewhere(samples *payload.Samples) *payload.Samples {
	for i := range samples.Containers {
		samples.Containers[i].Node = "worker-2"
	}
	return samples
}

func among(samples *payload.Samples, neighbours ...string) *payload.Samples {
	samples.SetNode(payload.Node{Name: "worker-1", Neighbours: neighbours})
	return samples
}

// A killed collector may restart on another node: the last one's figures count.
func TestNodeOfSeveral(t *testing.T) {
	samples := onNode(1, 0.5, 10)
	recorder := payload.NewSampleRecorder("run", "pod-b", minutes(0))
	recorder.Samples.SetNode(payload.Node{Name: "worker-2", CPUs: 8})
	recorder.Record("node", "worker-2", "cpu", "cores", minutes(31), 4)
	recorder.Record("node", "worker-2", "cpu", "cores", minutes(32), 4)
	both, err := payload.MergeSamples(samples, recorder.Samples)
	if err != nil {
		t.Fatal(err)
	}
	if use, _ := results.FindNode(both, window("", 5, 40)); use.Name != "worker-2" || use.BusyPercent != 50 || !math.IsNaN(use.PressurePercent) {
		t.Errorf("the node is %+v, want worker-2, half of it busy", use)
	}
	if use, _ := results.FindNode(both, window("", 5, 25)); use.Name != "worker-1" {
		t.Errorf("the node is %+v, want worker-1", use)
	}
	if _, known := results.FindNode(sampledFor(constant(1), constant(1)).Samples, window("", 5, 25)); known {
		t.Error("reports a node that was not sampled")
	}
}
