// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/expect"
	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
	"perflab.dev/perflab/test/emulators/testcluster"
)

// TestRecording compares a run of two runners with a recording of the real operator, stage
// by stage.
func TestRecording(t *testing.T) {
	b := newBench(t)
	check := func(stage k6v1alpha1.Stage) {
		t.Helper()
		testcluster.CheckFacts(t, b.Client, b.namespace, "testdata/1.6.0.yaml", string(stage))
	}
	run := b.created(makeRun("tr", 2))
	check(k6v1alpha1.StageCreated)
	b.awaitJob("tr-1", corev1.PodRunning)
	b.awaitJob("tr-2", corev1.PodRunning)
	b.awaitStage(run, k6v1alpha1.StageStarted)
	check(k6v1alpha1.StageStarted)
	b.setPhase("tr-1", corev1.PodSucceeded)
	b.setPhase("tr-2", corev1.PodSucceeded)
	b.awaitStage(run, k6v1alpha1.StageFinished)
	check(k6v1alpha1.StageFinished)
}

// TestRecordingOfError uses a script that does not parse.
func TestRecordingOfError(t *testing.T) {
	b := newBench(t)
	run := b.apply(makeRun("tr", 2))
	b.awaitJob("tr-initializer", corev1.PodFailed)
	b.awaitStage(run, k6v1alpha1.StageError)
	testcluster.CheckFacts(t, b.Client, b.namespace, "testdata/1.6.0.yaml", "error")
}

// TestSpecifiedProbes checks that specified probes replace the operator's own. The operator's
// liveness probe kills a runner that is late three times.
func TestSpecifiedProbes(t *testing.T) {
	b := newBench(t)
	slow := &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(apiPort)}},
		TimeoutSeconds:   30,
		PeriodSeconds:    20,
		SuccessThreshold: 1,
		FailureThreshold: 10,
	}
	run := makeRun("tr", 1)
	run.Spec.Runner.LivenessProbe, run.Spec.Runner.ReadinessProbe = slow, slow.DeepCopy()
	b.created(run)
	job := &batchv1.Job{}
	expect.NoError(t, b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "tr-1"}, job))
	container := job.Spec.Template.Spec.Containers[0]
	for name, got := range map[string]*corev1.Probe{"liveness": container.LivenessProbe, "readiness": container.ReadinessProbe} {
		expect.Equal(t, slow, got, "%s probe", name)
	}
}

// TestRetryDelay checks that the delay between two attempts grows with the age of the youngest
// runner.
func TestRetryDelay(t *testing.T) {
	now := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	there := func(since time.Duration) corev1.Pod {
		return corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(now.Add(-since))}}
	}
	for name, tc := range map[string]struct {
		runners []corev1.Pod
		want    time.Duration
	}{
		"just created":        {[]corev1.Pod{there(time.Hour), there(0)}, time.Second},
		"there for some time": {[]corev1.Pod{there(time.Hour), there(13 * time.Second)}, 13 * time.Second},
		"there for long":      {[]corev1.Pod{there(time.Hour)}, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, retryDelay(tc.runners, now), "pause")
		})
	}
}
