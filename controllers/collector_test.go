// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
	"perflab.dev/perflab/payload"
)

// collectors simulate the Job controller, the kubelet and the collector of a lab.
type collectors struct {
	*lab
	// killed are pods that are killed before they are stopped.
	killed bool
	// noWatches are those that do not stop.
	noWatches bool
	// absent: no node accepts the pods.
	absent bool
	// shared: others use the rest of the node's two CPUs, so that tasks wait.
	shared bool
}

func withCollectors(l *lab) *collectors {
	l.collector = "example.org/collector:1"
	c := &collectors{lab: l}
	c.jobs = map[string]types.UID{}
	l.eachRound = c.play
	return c
}

func (c *collectors) play() {
	c.t.Helper()
	jobs := &batchv1.JobList{}
	c.list(jobs)
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if !strings.HasSuffix(job.Name, "-collector") {
			continue
		}
		made := job.Name + " of " + ownerName(job)
		if uid, known := c.jobs[made]; known && uid != job.UID {
			c.t.Errorf("Job %s was made twice", made)
		}
		c.jobs[made] = job.UID
		if !c.absent {
			c.playJob(job)
		}
	}
}

func (c *collectors) playJob(job *batchv1.Job) {
	c.t.Helper()
	labels := podLabels(job)
	pods := c.pods(labels)
	if len(pods) == 0 {
		c.ensurePod(job.Name+"-a", job, labels, nil)
		return
	}
	for i := range pods {
		pod := &pods[i]
		_, reported := pod.Annotations[v1alpha1.AnnotationEnd]
		_, generated := c.firstTestRun()
		switch {
		case pod.Status.Phase != corev1.PodRunning:
		case c.killed && generated:
			c.killed = false
			c.end(pod, job, corev1.PodFailed, false)
			c.ensurePod(job.Name+"-b", job, labels, nil)
		case reported && !c.noWatches:
			c.end(pod, job, corev1.PodSucceeded, true)
		}
	}
}

// podLabels are the labels of a Job's pods, as Kubernetes sets them.
func podLabels(job *batchv1.Job) map[string]string {
	labels := map[string]string{batchv1.JobNameLabel: job.Name}
	maps.Copy(labels, job.Spec.Template.Labels)
	return labels
}

func (c *collectors) firstTestRun() (string, bool) {
	for _, run := range c.runs() {
		for _, load := range run.Status.Loads {
			if load.CreateTime != nil {
				return load.TestRun, true
			}
		}
	}
	return "", false
}

// checkpoint makes all collectors print their samples so far.
func (c *collectors) checkpoint() {
	c.t.Helper()
	jobs := &batchv1.JobList{}
	c.list(jobs)
	for i := range jobs.Items {
		if job := &jobs.Items[i]; strings.HasSuffix(job.Name, "-collector") {
			for _, pod := range c.pods(podLabels(job)) {
				c.print(&pod, job, false)
			}
		}
	}
}

func (c *collectors) end(pod *corev1.Pod, job *batchv1.Job, phase corev1.PodPhase, final bool) {
	c.t.Helper()
	c.print(pod, job, final)
	pod.Status.Phase = phase
	c.writeStatus(pod)
}

// print prints a sample for each second of a pod's life.
func (c *collectors) print(pod *corev1.Pod, job *batchv1.Job, final bool) {
	c.t.Helper()
	run := strings.TrimSuffix(job.Name, "-collector")
	recorder := payload.NewSampleRecorder(run, pod.Name, pod.Status.StartTime.Time)
	for at := pod.Status.StartTime.Time; !at.After(c.now); at = at.Add(time.Second) {
		recorder.Round(at, time.Second)
		recorder.Record("module/gateway", "pod/gateway", "cpu", "cores", at, 0.25)
	}
	recorder.Samples.SetContainer(payload.Container{Component: "module/gateway", Instance: "pod/gateway", Node: "here", CPURequest: 0.5})
	if c.shared {
		c.share(recorder)
	}
	recorder.Samples.Final = final
	var log bytes.Buffer
	expect.NoError(c.t, payload.WriteSamples(&log, recorder.Samples))
	c.logs.put(pod.Name, log.Bytes())
}

// share makes the node busy and a second pod of the module idle during all samples.
func (c *collectors) share(recorder *payload.SampleRecorder) {
	recorder.Samples.SetNode(payload.Node{Name: "here", CPUs: 2})
	recorder.Samples.SetContainer(payload.Container{Component: "module/gateway", Instance: "second/gateway", Node: "here"})
	for _, round := range recorder.Samples.Rounds {
		recorder.Record("node", "here", "cpu", "cores", round.At, 2)
		recorder.Record("module/gateway", "second/gateway", "cpu", "cores", round.At, 0.05)
		recorder.Record("node", "here", "cpuPressure", "%", round.At, 90)
	}
}

func observed(run *v1alpha1.PerfRun, metric string) string {
	for _, observation := range run.Status.Observations {
		if observation.Metric == metric {
			return observation.Value + " " + observation.Unit
		}
	}
	return ""
}

// Killed at every write, the operator creates one collector for each run, gives it only read rights,
// and adds its samples to the run.
func TestCollectorPerRun(t *testing.T) {
	l := newLab(t, complete)
	c := withCollectors(l)
	l.line.fate = alternate(lost, unanswered)
	l.create(login(), smallExperiment(t, oneArm))
	run := l.untilRun(v1alpha1.RunSucceeded)
	for metric, want := range map[string]string{
		"module/gateway/cpu/average":          "0.25 cores",
		"module/gateway/cpu/max":              "0.25 cores",
		"module/gateway/cpu/percentOfRequest": "50 %",
		"module/gateway/restarts":             "0 1",
	} {
		expect.Equal(t, want, observed(run, metric), "%s", metric)
	}
	servers := run.Status.Servers
	if servers == nil || servers.Rounds == 0 || servers.LongestGap.Duration > time.Second || len(servers.Notes) != 0 {
		t.Errorf("the servers' status is %+v, want rounds without gaps or notes", servers)
	}
	raw := &corev1.ConfigMap{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: naming.RawSamples(run.Name)}, raw))
	if kept, err := payload.UnmarshalSamples(raw.BinaryData["samples"]); err != nil || kept.Run != run.Name {
		t.Errorf("the stored samples are of %+v (%v)", kept, err)
	}
	l.until("no Job", func() bool {
		return len(c.pods(map[string]string{batchv1.JobNameLabel: naming.CollectorJob(run.Name)})) == 0
	})
	if len(c.jobs) != 1 {
		t.Errorf("%d Jobs were made, want 1", len(c.jobs))
	}
	binding := &rbacv1.RoleBinding{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: naming.CollectorBinding("small")}, binding))
	yamlcmp.Equal(t, binding.RoleRef, `{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: perflab-collector}`)
}

// A killed collector leaves a gap until its replacement starts; the run continues, and the samples
// of both are merged.
func TestKilledCollectorIsReplaced(t *testing.T) {
	l := newLab(t, complete)
	c := withCollectors(l)
	c.killed = true
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, oneArm))
	l.until("another pod", func() bool { return len(l.pods(map[string]string{})) > 0 && !c.killed })
	delete(l.outside.held, "cico")
	run := l.untilRun(v1alpha1.RunSucceeded)
	servers := run.Status.Servers
	if servers == nil || servers.Silent != "collector" || servers.LongestGap.Duration <= 0 {
		t.Fatalf("the servers' status is %+v, want a gap of the collector", servers)
	}
	if observed(run, "module/gateway/cpu/average") == "" {
		t.Error("what was seen is lost")
	}
}

// Loads do not wait forever for a collector that can't start, and the run reports that it has no
// samples.
func TestMissingCollectorIsReported(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l).absent = true
	l.create(login(), smallExperiment(t, oneArm))
	run := l.untilRun(v1alpha1.RunSucceeded)
	servers := run.Status.Servers
	if servers == nil || len(servers.Notes) != 1 || servers.Notes[0] != "the servers were not measured: the collector's pod was never created" {
		t.Errorf("the servers' status is %+v, want a note", servers)
	}
	if servers.LongestGap.Duration < shortest {
		t.Errorf("the gap is %s, want the whole window", servers.LongestGap.Duration)
	}
}

// The operator stops waiting for a collector that does not end, and uses its output so far.
func TestHangingCollectorIsAbandoned(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l).noWatches = true
	l.create(login(), smallExperiment(t, oneArm))
	run := l.untilRun(v1alpha1.RunSucceeded)
	if servers := run.Status.Servers; servers == nil || len(servers.Notes) != 1 || !strings.Contains(servers.Notes[0], "cannot read the samples") {
		t.Errorf("the servers' status is %+v, want a note about the log", servers)
	}
}

// With CloudWatch, the collector has three minutes more, and the run is still valid.
func TestCollectorWaitsForCloudWatch(t *testing.T) {
	l := newLab(t, complete)
	withCollectors(l).noWatches = true
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Measurement.Prometheus = &v1alpha1.Prometheus{URL: "http://prometheus:9090"}
		e.Spec.System.Postgres = &v1alpha1.Postgres{
			Provider: v1alpha1.PostgresProviderExternal,
			External: &v1alpha1.ExternalPostgres{
				Host: "db.example.org", Port: 5433, Database: "folio", CredentialsSecret: v1alpha1.SecretName{Name: "rds"},
				Prometheus: &v1alpha1.PostgresInPrometheus{Instance: "folio-writer"},
			},
		}
	}))
	run := l.untilRun(v1alpha1.RunSucceeded)
	timings := run.Status.Timings
	if waited := timings.Finish.Sub(timings.LoadFinish.Time); waited < 210*time.Second || waited > 240*time.Second {
		t.Errorf("the run ended %s after its loads, want about three minutes and a half", waited)
	}
}

// The collector of an invalid run is stopped.
func TestInvalidRunStopsCollector(t *testing.T) {
	l := newLab(t, complete)
	c := withCollectors(l)
	l.outside.exit["cico"] = 107
	l.create(login(), smallExperiment(t, oneArm))
	run := l.untilRun(v1alpha1.RunInvalid)
	for _, pod := range c.pods(map[string]string{batchv1.JobNameLabel: naming.CollectorJob(run.Name)}) {
		if _, reported := pod.Annotations[v1alpha1.AnnotationEnd]; !reported {
			t.Errorf("pod %s is still running", pod.Name)
		}
	}
}

// A run on a node that others used is invalid, unless the experiment allows that; then it warns, and
// reports what others used.
func TestBusyNodeInvalidatesRun(t *testing.T) {
	for name, test := range map[string]struct {
		allowed *int32
		want    v1alpha1.RunPhase
	}{
		"by default": {want: v1alpha1.RunInvalid},
		"allowed":    {allowed: ptr.To[int32](95), want: v1alpha1.RunSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			withCollectors(l).shared = true
			l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
				e.Spec.Validity.MaxOtherCPUPercent = test.allowed
				e.Spec.Scenarios[0].Loads[0].Duration = &metav1.Duration{Duration: 3 * time.Minute}
			}))
			l.outside.held["cico"] = true
			begun := l.now
			l.until("a load that has been on long enough to compare pods", func() bool {
				if len(l.foreign(contract.TestRunKind)) == 0 {
					begun = l.now
				}
				return l.now.Sub(begun) >= 3*time.Minute
			})
			delete(l.outside.held, "cico")
			run := l.untilRun(test.want)
			sentence := run.Status.Message
			if test.want == v1alpha1.RunSucceeded {
				sentence = strings.Join(run.Status.Warnings, "; ")
			} else if valid := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); valid == nil || valid.Reason != v1alpha1.ReasonNodeShared {
				t.Errorf("Valid is %+v, want reason %s", valid, v1alpha1.ReasonNodeShared)
			}
			if !strings.Contains(sentence, "85 % with other work") || run.Status.Servers.Node != "here" {
				t.Errorf("the run reports %q about node %q", sentence, run.Status.Servers.Node)
			}
			expect.Equal(t, "1.7 cores", observed(run, "node/otherCpu/average"), "others used")
			if warnings := strings.Join(run.Status.Warnings, "; "); !strings.Contains(warnings, `pod pod took 83 % of the CPU of module "gateway"`) || len(run.Status.Servers.Pods) != 2 {
				t.Errorf("about the pods %+v the run reports %q", run.Status.Servers.Pods, warnings)
			}
		})
	}
}
