// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
	metricsclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// fakeSource records the same each time, and fails every third time.
type fakeSource struct{ asked atomic.Int32 }

func (*fakeSource) name() string { return "thermometer" }

func (th *fakeSource) sample(_ context.Context, now round) (recordFunc, error) {
	if th.asked.Add(1)%3 == 0 {
		return nil, errors.New("it is broken")
	}
	return func(into *payload.SampleRecorder) { into.Record("room", "", "warmth", "°C", now.at, 21) }, nil
}

func newLoop(t *testing.T, log *bytes.Buffer, told func(context.Context) (bool, error)) *Loop {
	t.Helper()
	lister, err := newPodLister(fake.NewClientset().CoreV1().Pods("lab"), nil)
	expect.NoError(t, err)
	return &Loop{
		Run: "run-1", Collector: "pod", Interval: 20 * time.Millisecond, Longest: time.Minute, Log: log,
		ShouldEnd: told, pods: lister, sources: []source{&fakeSource{}},
	}
}

func readLog(t *testing.T, log *bytes.Buffer) *payload.Samples {
	t.Helper()
	samples, err := payload.ReadSamples(bytes.NewReader(log.Bytes()))
	expect.NoError(t, err)
	return samples
}

func TestLoopPrintsAllSamplesAtOrderedEnd(t *testing.T) {
	var log bytes.Buffer
	loop := newLoop(t, &log, nil)
	asked := &loop.sources[0].(*fakeSource).asked
	// The loop runs more than twenty rounds, however long they take on a busy machine.
	loop.ShouldEnd = func(context.Context) (bool, error) { return asked.Load() > 20, nil }
	expect.NoError(t, loop.Work(t.Context()))
	samples := readLog(t, &log)
	points := len(samples.Series[0].Points)
	// Of several points in the same millisecond, reading keeps one.
	told := points + len(samples.Failures[0].At)
	if rounds := len(samples.Rounds); !samples.Final || rounds < 20 || told < rounds || told > int(asked.Load()) {
		t.Errorf("%d points and failures in %d rounds of %d, final %t", told, rounds, asked.Load(), samples.Final)
	}
	if failure := samples.Failures[0]; failure.Source != "thermometer" || failure.Message != "it is broken" {
		t.Errorf("the failure is %+v", failure)
	}
}

// The samples of a killed collector are printed, and are not final: another collector continues.
func TestLoopPrintsSamplesWhenKilled(t *testing.T) {
	var log bytes.Buffer
	ctx, kill := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer kill()
	expect.NoError(t, newLoop(t, &log, func(context.Context) (bool, error) { return false, nil }).Work(ctx))
	if samples := readLog(t, &log); samples.Final || len(samples.Rounds) < 3 {
		t.Errorf("%d rounds, final %t", len(samples.Rounds), samples.Final)
	}
}

func TestLoopEndsAtDeadline(t *testing.T) {
	var log bytes.Buffer
	loop := newLoop(t, &log, func(context.Context) (bool, error) { return false, errors.New("connection refused") })
	loop.Longest = 100 * time.Millisecond
	expect.NoError(t, loop.Work(t.Context()))
	if samples := readLog(t, &log); !samples.Final {
		t.Error("the samples are not final")
	}
}

func TestLoopDoublesInterval(t *testing.T) {
	loop := &Loop{Interval: 15 * time.Second}
	var rounds int
	for elapsed := time.Duration(0); elapsed < 24*time.Hour; elapsed += loop.interval() {
		loop.rounds++
		rounds++
		if elapsed < time.Hour-15*time.Second && loop.interval() != 15*time.Second {
			t.Fatalf("after %s the interval is %s", elapsed, loop.interval())
		}
	}
	if rounds > 5*roundsPerDoubling {
		t.Errorf("%d rounds in a day, want at most five times those of an hour", rounds)
	}
}

// Samples within an hour are printed each minute, so a killed collector loses at most that.
func TestLoopPrintsEachMinute(t *testing.T) {
	for _, interval := range []time.Duration{time.Second, 15 * time.Second, 50 * time.Second, 4 * time.Minute} {
		var log bytes.Buffer
		loop := newLoop(t, &log, nil)
		loop.Interval = interval
		now := time.Now()
		loop.printed, loop.recorder = now, payload.NewSampleRecorder("run-1", "pod", now)
		prints, length := 0, 0
		const hour = time.Hour
		for end := now.Add(hour); now.Before(end) && loop.rounds < roundsPerDoubling; now = now.Add(interval) {
			loop.sampleRound(t.Context(), now, false)
			expect.NoError(t, loop.printIfDue(now))
			if log.Len() > length {
				prints, length = prints+1, log.Len()
			}
		}
		elapsed := interval * time.Duration(loop.rounds)
		if most := elapsed/max(interval, time.Minute-interval) + 1; time.Duration(prints) < elapsed/max(interval, time.Minute)-1 || time.Duration(prints) > most {
			t.Errorf("every %s: %d prints in %s", interval, prints, elapsed)
		}
	}
}

func systemPod(name string, labels map[string]string, restarts int32) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, UID: "uid-" + "1", Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("1Gi")},
		}}}},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, PodIP: "10.0.0.1",
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", RestartCount: restarts, LastTerminationState: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137, FinishedAt: metav1.NewTime(time.Unix(1767323045, 0))},
			}}},
		},
	}
}

var wanted = []collector.Component{
	{Name: "module/mod-users", Selector: "module=users"},
	{Name: "kafka/broker-", Selector: "pool=broker", Numbered: collector.ByOrdinal},
	{Name: "postgres/primary", Selector: "role in (primary)"},
	{Name: "postgres/replica-", Selector: "role=replica", Numbered: collector.ByRank},
}

func TestPodListerMatchesComponents(t *testing.T) {
	api := fake.NewClientset(
		systemPod("users-a", map[string]string{"module": "users"}, 0), systemPod("lab-broker-12", map[string]string{"pool": "broker"}, 0),
		systemPod("pg-3", map[string]string{"role": "replica"}, 0), systemPod("pg-1", map[string]string{"role": "replica"}, 0),
		systemPod("pg-2", map[string]string{"role": "primary"}, 0), systemPod("other", nil, 0),
	)
	lister, err := newPodLister(api.CoreV1().Pods("lab"), wanted)
	expect.NoError(t, err)
	pods, _, err := lister.list(t.Context(), time.Now())
	expect.NoError(t, err)
	var got []string
	for _, pod := range pods {
		got = append(got, pod.component+"="+pod.name)
	}
	want := "kafka/broker-12=lab-broker-12 postgres/replica-1=pg-1 postgres/primary=pg-2 postgres/replica-2=pg-3 module/mod-users=users-a"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestContainerEndsAreReportedOnce(t *testing.T) {
	labels := map[string]string{"module": "users"}
	api := fake.NewClientset(systemPod("users-a", labels, 1))
	lister, err := newPodLister(api.CoreV1().Pods("lab"), wanted)
	expect.NoError(t, err)
	var told []payload.ContainerEnd
	for _, restarts := range []int32{1, 1, 3, 3} {
		if _, err := api.CoreV1().Pods("lab").UpdateStatus(t.Context(), systemPod("users-a", labels, restarts), metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		_, write, err := lister.list(t.Context(), time.Now())
		expect.NoError(t, err)
		recorder := payload.NewSampleRecorder("run-1", "pod", time.Now())
		write(recorder)
		told = append(told, recorder.Samples.Ends...)
		if container := recorder.Samples.Containers[0]; container.CPURequest != 0.5 || container.MemoryRequest != 1024 || container.CPULimit != 0 {
			t.Errorf("the container asks for %+v", container)
		}
	}
	if len(told) != 1 || told[0].Count != 2 || told[0].Reason != "OOMKilled" || told[0].At.Unix() != 1767323045 {
		t.Errorf("the ends are %+v, want one that counts for two", told)
	}
}

// fakeMetricsAPI fakes the metrics API.
type fakeMetricsAPI struct {
	metricsclient.PodMetricsInterface
	items []metricsv1beta1.PodMetrics
	err   error
}

func (f *fakeMetricsAPI) List(context.Context, metav1.ListOptions) (*metricsv1beta1.PodMetricsList, error) {
	return &metricsv1beta1.PodMetricsList{Items: slices.Clone(f.items)}, f.err
}

func TestMetricsAPISamplesAreUnique(t *testing.T) {
	begin := time.Now().Truncate(time.Second)
	api := &fakeMetricsAPI{items: []metricsv1beta1.PodMetrics{{
		ObjectMeta: metav1.ObjectMeta{Name: "users-a"}, Timestamp: metav1.NewTime(begin),
		Containers: []metricsv1beta1.ContainerMetrics{{Name: "main", Usage: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("512Mi"),
		}}},
	}}}
	asked := &metricsAPI{pods: api}
	now := round{at: begin.Add(5 * time.Second), pods: []pod{{component: "module/mod-users", name: "users-a"}}}
	samples := sampleSource(t, asked, now)
	if cpu, memory := value(t, samples, "module/mod-users", "cpu"), value(t, samples, "module/mod-users", "memory"); cpu != 0.25 || memory != 512 {
		t.Errorf("the pod uses %g cores and %g MiB, want 0.25 and 512", cpu, memory)
	}
	if at := samples.Series[0].Points[0].At; !at.Equal(begin) {
		t.Errorf("the figures are of %s, want %s", at, begin)
	}
	now.at = begin.Add(10 * time.Second)
	if again := sampleSource(t, asked, now); len(again.Series) != 0 {
		t.Errorf("the same figures were told again: %+v", again.Series)
	}
	now.at = begin.Add(3 * time.Minute)
	if _, err := asked.sample(t.Context(), now); err == nil || !strings.Contains(err.Error(), "3m0s old") {
		t.Errorf("figures that are 3 minutes old: %v", err)
	}
	now.pods[0].name = "users-b"
	if _, err := asked.sample(t.Context(), now); err == nil {
		t.Error("pods without figures are no failure")
	}
}

func TestRefusalsHaveNoMessages(t *testing.T) {
	refused := func(code, message string) error {
		return &pgconn.PgError{Severity: "ERROR", Code: code, Message: message, Detail: "hunter2"}
	}
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a code that is known": {
			fmt.Errorf("counting connections: %w", refused("28P01", `password authentication failed for user "hunter2"`)),
			"counting connections: PostgreSQL refuses with SQLSTATE 28P01: the login's password is wrong",
		},
		"one that is not": {
			fmt.Errorf("reading statements: %w", refused("P0001", "hunter2")),
			"reading statements: PostgreSQL refuses with SQLSTATE P0001",
		},
		"no code":     {refused("hunter2", "hunter2"), "PostgreSQL refuses"},
		"two of them": {errors.Join(errors.New("no TLS"), refused("57P03", "hunter2"), refused("53300", "hunter2")), "no TLS\nPostgreSQL refuses with SQLSTATE 57P03: it is starting up or shutting down"},
		"a message of several lines": {
			rewritten{refused("XX000", "hunter2\nhunter2")}, "PostgreSQL refuses with SQLSTATE XX000",
		},
		"none": {errors.New("connection refused"), "connection refused"},
	} {
		if got := withoutMessage(test.err).Error(); got != test.want {
			t.Errorf("%s is told as\n%s\nwant\n%s", name, got, test.want)
		}
	}
}

// rewritten wraps an error with another text.
type rewritten struct{ error }

func (r rewritten) Error() string { return "hunter2:\n\t" + r.error.Error()[:3] }
func (r rewritten) Unwrap() error { return r.error }

// The walk visits all steps before it returns, or it would stay within a part of the cache and
// depend on its start.
func TestSpeedometerVisitsAllSteps(t *testing.T) {
	s := newSpeedometer()
	steps := 1
	for at := s.next[0]; at != 0; at = s.next[at] {
		steps++
	}
	if steps != ladderSteps {
		t.Errorf("the way has %d rungs, want %d", steps, ladderSteps)
	}
	before := s.at
	if s.walk(); s.at != before {
		t.Errorf("%d steps end at rung %d of %d, want whole rounds", stepsAtOnce, s.at, ladderSteps)
	}
}

func TestSpeedIsPerCPU(t *testing.T) {
	speed, err := newSpeedometer().speed()
	// The bounds include a very slow emulator and a step in a third of a nanosecond.
	if err != nil || speed < 0.1 || speed > 3000 {
		t.Errorf("%g million steps a second, %v", speed, err)
	}
}

// BenchmarkSpeed measures the cost of a sample for the node.
func BenchmarkSpeed(b *testing.B) {
	s := newSpeedometer()
	for b.Loop() {
		if _, err := s.speed(); err != nil {
			b.Fatal(err)
		}
	}
}

// The collector logs in to servers, so their labels don't suffice.
func TestServerPodsNeedControllerOfCluster(t *testing.T) {
	config := collector.Config{Components: slices.Clone(wanted)}
	config.ControlInstances("cluster-1")
	server := func(name, role string, owners ...metav1.OwnerReference) *corev1.Pod {
		pod := systemPod(name, map[string]string{"role": role}, 0)
		pod.OwnerReferences = owners
		return pod
	}
	controller := func(uid types.UID) metav1.OwnerReference {
		return metav1.OwnerReference{UID: uid, Controller: new(true)}
	}
	api := fake.NewClientset(
		server("pg-1", "primary", controller("cluster-1")), server("pg-2", "replica", controller("cluster-1")),
		server("an-orphan", "primary"), server("another-s", "replica", controller("cluster-2")), server("a-owned", "replica", metav1.OwnerReference{UID: "cluster-1"}),
		systemPod("users-a", map[string]string{"module": "users"}, 0),
	)
	lister, err := newPodLister(api.CoreV1().Pods("lab"), config.Components)
	expect.NoError(t, err)
	pods, _, err := lister.list(t.Context(), time.Now())
	expect.NoError(t, err)
	var got []string
	for _, pod := range pods {
		got = append(got, pod.component+"="+pod.name)
	}
	expect.Equal(t, []string{"postgres/primary=pg-1", "postgres/replica-1=pg-2", "module/mod-users=users-a"}, got)
}
