// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// kernel writes the files of a kernel with two CPUs: hundredths of seconds of each kind, and
// microseconds of waiting, which are not counted if below 0.
func kernel(t *testing.T, proc string, user, idle, steal, waiting int) {
	t.Helper()
	write := func(name, text string) {
		expect.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(proc, name)), 0o755))
		expect.NoError(t, os.WriteFile(filepath.Join(proc, name), []byte(text), 0o600))
	}
	cpu := func(name string, part int) string {
		return fmt.Sprintf("%s %d 0 0 %d 0 0 0 %d 0 0\n", name, user/part, idle/part, steal/part)
	}
	write("meminfo", "MemTotal:       8192000 kB\nMemFree:         100000 kB\nMemAvailable:   2048000 kB\n")
	write("loadavg", "2.25 1.00 0.50 3/400 12345\n")
	write("stat", cpu("cpu ", 1)+cpu("cpu0", 2)+cpu("cpu1", 2))
	if waiting >= 0 {
		write("pressure/cpu", fmt.Sprintf("some avg10=1.00 avg60=2.00 avg300=3.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", waiting))
	}
}

// withDisks writes the files of a kernel about a disk with a partition and a volume on it, in
// sectors, and returns the directory of its devices.
func withDisks(t *testing.T, proc string, read, written int) (sys string) {
	t.Helper()
	var text strings.Builder
	for i, device := range []string{"vda", "vda1", "dm-0", "loop0"} {
		fmt.Fprintf(&text, " 253 %d %s 10 0 %d 5 20 0 %d 9 0 14 14\n", i, device, read, written)
	}
	expect.NoError(t, os.WriteFile(filepath.Join(proc, "diskstats"), []byte(text.String()), 0o600))
	sys = filepath.Join(proc, "sys-of-test")
	for _, device := range []string{"vda", "dm-0", "loop0"} {
		expect.NoError(t, os.MkdirAll(filepath.Join(sys, "block", device), 0o755))
	}
	return sys
}

func TestNodeSource(t *testing.T) {
	for name, test := range map[string]struct {
		waiting      [2]int
		wantPressure []float64
		wantNotes    []string
	}{
		"with pressure":    {waiting: [2]int{5_000_000, 12_500_000}, wantPressure: []float64{75}},
		"without pressure": {waiting: [2]int{-1, -1}, wantNotes: []string{withoutPressure}},
	} {
		t.Run(name, func(t *testing.T) {
			proc := t.TempDir()
			kernel(t, proc, 100, 1000, 0, test.waiting[0])
			asked, err := newNode("worker-1", proc, withDisks(t, proc, 2000, 8000))
			expect.NoError(t, err)
			begin := time.Now()
			first := sampleSource(t, asked, round{at: begin})
			expect.Equal(t, 2.25, value(t, first, "node", "loadAverage"), "the load average before the loads")
			if got := value(t, first, "node", "memory"); got != 6000 {
				t.Errorf("%g MiB are in use, want 6000", got)
			}
			if got := value(t, first, "node", "cpuSpeed"); got <= 0 {
				t.Errorf("a CPU does %g million steps a second", got)
			}
			if len(first.Series) != 3 || first.Nodes[0].CPUs != 2 || first.Nodes[0].Name != "worker-1" {
				t.Errorf("the first round told %+v of %+v, want a node with 2 CPUs and no rates yet", first.Series, first.Nodes)
			}
			kernel(t, proc, 1000, 1500, 300, test.waiting[1])
			withDisks(t, proc, 4000, 48000)
			samples := sampleSource(t, asked, round{at: begin.Add(10 * time.Second)})
			// 9 s of work and 3 s of steal time in 10 s.
			if got := value(t, samples, "node", "cpu"); got != 1.2 {
				t.Errorf("%g cores are busy, want 1.2", got)
			}
			for resource, want := range map[string]float64{"diskRead": 102400, "diskWritten": 2048000} {
				if got := value(t, samples, "node", resource); got != want {
					t.Errorf("%s is %g B/s, want %g", resource, got, want)
				}
			}
			var pressure []float64
			for _, series := range samples.Series {
				if series.Resource == "cpuPressure" {
					pressure = append(pressure, series.Points[0].Value)
				}
			}
			if !slices.Equal(pressure, test.wantPressure) || !slices.Equal(samples.Notes, test.wantNotes) {
				t.Errorf("the pressure is %v with the notes %q, want %v with %q", pressure, samples.Notes, test.wantPressure, test.wantNotes)
			}
		})
	}
}

// The node of the test is a real one.
func TestNodeSourceOnRealNode(t *testing.T) {
	asked, err := newNode("here", "/proc", "/sys")
	expect.NoError(t, err)
	if samples := sampleSource(t, asked, round{at: time.Now()}); samples.Nodes[0].CPUs < 1 {
		t.Errorf("the node is %+v, want CPUs", samples.Nodes)
	}
}

// Neighbours are pods of the own namespace on the same node, without the collector, ended pods, and
// pods on other nodes.
func TestNodeSourceCountsNeighbours(t *testing.T) {
	on := func(name, node string, phase corev1.PodPhase, labels map[string]string) *corev1.Pod {
		pod := systemPod(name, labels, 0)
		pod.Spec.NodeName, pod.Status.Phase = node, phase
		return pod
	}
	api := fake.NewClientset(
		on("users-a", "worker-1", corev1.PodRunning, map[string]string{"module": "users"}),
		on("collector", "worker-1", corev1.PodRunning, nil), on("build", "worker-1", corev1.PodRunning, nil),
		on("ended", "worker-1", corev1.PodSucceeded, nil), on("far", "worker-2", corev1.PodRunning, nil),
	)
	lister, err := newPodLister(api.CoreV1().Pods("lab"), wanted)
	expect.NoError(t, err)
	lister.place = Location{Pod: "collector", Node: "worker-1"}
	_, write, err := lister.list(t.Context(), time.Now())
	expect.NoError(t, err)
	recorder := payload.NewSampleRecorder("run", "pod", time.Now())
	write(recorder)
	if nodes := recorder.Samples.Nodes; len(nodes) != 1 || !slices.Equal(nodes[0].Neighbours, []string{"build"}) {
		t.Errorf("the node's neighbours are %+v, want build", nodes)
	}
	if container := recorder.Samples.Containers[0]; container.Node != "worker-1" {
		t.Errorf("the container is %+v, want it on worker-1", container)
	}
}
