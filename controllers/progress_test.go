// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// runnerPods are those of the running load.
func (l *lab) runnerPods() []corev1.Pod {
	l.t.Helper()
	return l.pods(map[string]string{contract.LabelRunner: "true"})
}

func TestLoadProgressIsShown(t *testing.T) {
	l := newLab(t, complete)
	l.outside.held = map[string]bool{"cico": true}
	l.create(login(), smallExperiment(t, oneArm))
	l.until("a runner", func() bool { return len(l.runnerPods()) > 0 })
	report := `perflab-progress {"at":"2026-03-01T12:00:10Z","users":8,"requestsPerSecond":12.3,"requests":100,"errorPercent":1,"p95":{"Check-In":412.3}}` + "\n"
	l.logs.put(l.runnerPods()[0].Name, []byte(report))
	l.until("progress", func() bool {
		run := l.run()
		return len(run.Status.Loads) > 0 && run.Status.Loads[0].Progress != nil
	})
	progress := l.run().Status.Loads[0].Progress
	if progress.Users != 8 || progress.RequestsPerSecond != "12.3" || progress.ErrorPercent != "1" || len(progress.P95) != 1 || progress.P95[0].Milliseconds != "412" {
		t.Errorf("progress %+v", progress)
	}
	if message := l.run().Status.Message; !strings.Contains(message, "8 users, 12.3 requests/s, 1 % errors, Check-In p95 412 ms") {
		t.Errorf("the run reports %q", message)
	}
	// Only the run reports it, because a copy in the experiment would need a second write.
	if current := l.experiment("small").Status.Current; current == nil || current.Message != "loads are running" {
		t.Errorf("the experiment reports %+v", current)
	}
}

// A killed runner loses its final results, but not its checkpoints and the servers' samples: they
// are stored and observed, and the run is repeated.
func TestKilledRunnerCheckpointIsKept(t *testing.T) {
	l := newLab(t, complete)
	c := withCollectors(l)
	l.outside.held = map[string]bool{"cico": true}
	l.create(login(), smallExperiment(t, oneArm))
	l.until("a runner", func() bool { return len(l.runnerPods()) > 0 })
	pod := l.runnerPods()[0]
	testRun := l.foreign(contract.TestRunKind)[0]
	checkpoint := payload.New("cico", testRun.GetLabels()[v1alpha1.LabelRun], pod.Name, l.now)
	checkpoint.Record("Check-In", "ok", l.now, 100*time.Millisecond)
	checkpoint.End = l.now.Add(time.Second)
	var log bytes.Buffer
	expect.NoError(t, payload.Write(&log, checkpoint))
	l.logs.put(pod.Name, log.Bytes())
	c.checkpoint()
	l.kill(pod.Labels[batchv1.JobNameLabel])
	l.outside.held = nil

	invalid := l.untilRun(v1alpha1.RunInvalid)
	raw := &corev1.ConfigMap{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: invalid.Status.RawResults}, raw), "reading the stored results")
	kept, err := payload.Unmarshal(raw.BinaryData["cico"])
	expect.NoError(t, err)
	if summary, _ := kept.Summary("Check-In", ""); summary.Count != 1 || kept.Final {
		t.Errorf("stored %d check-ins, final %t, want the checkpoint's one", summary.Count, kept.Final)
	}
	if got := observed(invalid, "cico/Check-In/average"); got != "100 ms" {
		t.Errorf("check-ins took %q until then, want the checkpoint's 100 ms", got)
	}
	if err := l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: naming.RawSamples(invalid.Name)}, raw); err != nil {
		t.Errorf("reading what was seen of the servers: %v", err)
	}
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if done.Status.Runs.Invalid != 1 || done.Status.Runs.Done != done.Status.Runs.Planned {
		t.Errorf("runs %+v, want one invalid and all done", done.Status.Runs)
	}
}

// kill ends the containers of a Job's pods as the kernel does when they are out of memory.
func (l *lab) kill(job string) {
	l.t.Helper()
	for _, pod := range l.pods(map[string]string{batchv1.JobNameLabel: job}) {
		pod.Status.Phase = corev1.PodFailed
		pod.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: 137, Reason: "OOMKilled", StartedAt: metav1.NewTime(l.now), FinishedAt: metav1.NewTime(l.now),
		}}
		l.writeStatus(&pod)
	}
}
