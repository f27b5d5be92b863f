// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/fault"
	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
	"perflab.dev/perflab/test/emulators/testcluster"
)

func TestMain(m *testing.M) { apiserver.Main(m) }

// fakeCluster simulates what the API server of a test lacks: logs, and runners that answer.
type fakeCluster struct {
	log   string
	lock  sync.Mutex
	mute  map[string]bool
	asked []string
}

func (f *fakeCluster) Log(context.Context, string, string, string) ([]byte, error) {
	return []byte(f.log), nil
}

func (f *fakeCluster) Answers(_ context.Context, address string) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.asked = append(f.asked, address)
	if f.mute[address] {
		return errors.New("no answer")
	}
	return nil
}

// bench is one test's namespace with the controller. Its methods act as the Job controller
// and the kubelet.
type bench struct {
	*testing.T
	client.Client
	namespace string
	cluster   *fakeCluster
}

func newBench(t *testing.T) *bench {
	t.Helper()
	server := testcluster.Config(t, "1.2.0")
	c := apiserver.Client(t, server, k6v1alpha1.AddToScheme)
	b := &bench{T: t, Client: c, namespace: apiserver.Namespace(t, c), cluster: &fakeCluster{log: `{"maxVUs": 4}`, mute: map[string]bool{}}}
	mgr, err := ctrl.NewManager(server, ctrl.Options{
		Scheme:     c.Scheme(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{b.namespace: {}}},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	expect.NoError(t, err)
	reconciler := &TestRunReconciler{Client: mgr.GetClient(), Cluster: b.cluster, PollInterval: time.Second}
	expect.NoError(t, reconciler.SetupWithManager(mgr))
	testcluster.Run(t, mgr)
	return b
}

func (b *bench) apply(run *k6v1alpha1.TestRun) *k6v1alpha1.TestRun {
	b.Helper()
	run.Namespace = b.namespace
	expect.NoError(b, b.Create(b.Context(), run))
	return run
}

func (b *bench) read(run *k6v1alpha1.TestRun) {
	b.Helper()
	expect.NoError(b, b.Get(b.Context(), client.ObjectKeyFromObject(run), run))
}

func (b *bench) awaitStage(run *k6v1alpha1.TestRun, want k6v1alpha1.Stage) {
	b.Helper()
	testcluster.Eventually(b.T, func() string {
		b.read(run)
		if run.Status.Stage != want {
			return fmt.Sprintf("stage %q, want %q", run.Status.Stage, want)
		}
		return ""
	})
}

// awaitJob waits for a Job and acts as the Job controller: it creates the Job's Pod in the
// given phase and updates the Job's status.
func (b *bench) awaitJob(name string, phase corev1.PodPhase) {
	b.Helper()
	job := &batchv1.Job{}
	testcluster.Eventually(b.T, func() string {
		if err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, job); err != nil {
			return err.Error()
		}
		return ""
	})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name + "-x", Labels: job.Spec.Template.Labels},
		Spec:       job.Spec.Template.Spec,
	}
	pod.Labels["job-name"] = name
	expect.NoError(b, b.Create(b.Context(), pod))
	b.setPhase(name, phase)
}

func (b *bench) setPhase(name string, phase corev1.PodPhase) {
	b.Helper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name + "-x"}}
	for _, object := range []client.Object{job, pod} {
		expect.NoError(b, b.Get(b.Context(), client.ObjectKeyFromObject(object), object))
	}
	pod.Status.Phase = phase
	job.Status.Active, job.Status.StartTime = 1, &pod.CreationTimestamp
	if phase == corev1.PodFailed || phase == corev1.PodSucceeded {
		job.Status.Active = 0
	}
	for _, object := range []client.Object{job, pod} {
		expect.NoError(b, b.Status().Update(b.Context(), object))
	}
}

// starterCommand returns the shell text of the starter, or "" if there is no starter.
func (b *bench) starterCommand(run *k6v1alpha1.TestRun) string {
	b.Helper()
	job := &batchv1.Job{}
	err := b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: starterName(run.Name)}, job)
	if apierrors.IsNotFound(err) {
		return ""
	}
	expect.NoError(b, err)
	return job.Spec.Template.Spec.Containers[0].Command[2]
}

func (b *bench) address(run *k6v1alpha1.TestRun, index int) string {
	b.Helper()
	service := &corev1.Service{}
	expect.NoError(b, b.Get(b.Context(), client.ObjectKey{Namespace: b.namespace, Name: serviceName(run.Name, index)}, service))
	return service.Spec.ClusterIP
}

// created brings a run of two runners to stage created, with both Pods running.
func (b *bench) created(run *k6v1alpha1.TestRun) *k6v1alpha1.TestRun {
	b.Helper()
	b.apply(run)
	b.awaitJob("tr-initializer", corev1.PodSucceeded)
	b.awaitStage(run, k6v1alpha1.StageCreated)
	return run
}

func formatConditions(run *k6v1alpha1.TestRun) string {
	var all []string
	for _, c := range run.Status.Conditions {
		all = append(all, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func (b *bench) checkConditions(run *k6v1alpha1.TestRun, cloud, running string) {
	b.Helper()
	want := "CloudPLZTestRun=False/CloudPLZTestRunFalse CloudTestRun=" + cloud +
		" CloudTestRunAborted=False/CloudTestRunAbortedFalse TeardownExecuted=False/TeardownExecutedFalse TestRunRunning=" + running
	if got := formatConditions(run); got != want {
		b.Errorf("stage %s has conditions\n%s, want\n%s", run.Status.Stage, got, want)
	}
}

// TestFirstStatus acts on a run that the running controller ignores.
func TestFirstStatus(t *testing.T) {
	b := newBench(t)
	run := makeRun("tr", 1)
	run.Annotations = map[string]string{fault.Annotation: fault.Ignore}
	b.apply(run)
	r := &TestRunReconciler{Client: b.Client, Cluster: b.cluster}
	for _, want := range []k6v1alpha1.Stage{"", k6v1alpha1.StageInitialization} {
		_, err := r.step(t.Context(), run, nil)
		expect.NoError(t, err)
		b.read(run)
		expect.Equal(t, want, run.Status.Stage, "stage")
		b.checkConditions(run, "Unknown/TestRunTypeUnknown", "Unknown/TestRunPreparation")
	}
}

// TestRunPasses follows a run through all stages. One runner fails: the run still
// finishes.
func TestRunPasses(t *testing.T) {
	b := newBench(t)
	run := b.apply(makeRun("tr", 2))
	b.awaitStage(run, k6v1alpha1.StageInitialization)
	b.checkConditions(run, "Unknown/TestRunTypeUnknown", "Unknown/TestRunPreparation")

	b.awaitJob("tr-initializer", corev1.PodSucceeded)
	b.awaitStage(run, k6v1alpha1.StageCreated)
	b.checkConditions(run, "False/CloudTestRunFalse", "Unknown/TestRunPreparation")

	b.awaitJob("tr-1", corev1.PodRunning)
	b.awaitJob("tr-2", corev1.PodRunning)
	b.awaitStage(run, k6v1alpha1.StageStarted)
	b.checkConditions(run, "False/CloudTestRunFalse", "True/TestRunRunningTrue")
	command := b.starterCommand(run)
	for index := 1; index <= 2; index++ {
		if !strings.Contains(command, b.address(run, index)) {
			t.Errorf("the starter does not reach runner %d: %s", index, command)
		}
	}

	b.setPhase("tr-1", corev1.PodSucceeded)
	time.Sleep(1500 * time.Millisecond) // More than one poll.
	if b.read(run); run.Status.Stage != k6v1alpha1.StageStarted {
		t.Errorf("stage %s while a runner is active, want started", run.Status.Stage)
	}
	b.setPhase("tr-2", corev1.PodFailed)
	b.awaitStage(run, k6v1alpha1.StageFinished)
	b.checkConditions(run, "False/CloudTestRunFalse", "False/TestRunRunningFalse")
}

// TestInitializerDisabled skips the initializer; the kind of run stays unknown.
func TestInitializerDisabled(t *testing.T) {
	b := newBench(t)
	run := makeRun("tr", 1)
	run.Spec.Initializer = &k6v1alpha1.Pod{Disabled: true}
	b.apply(run)
	b.awaitStage(run, k6v1alpha1.StageCreated)
	b.checkConditions(run, "Unknown/TestRunTypeUnknown", "Unknown/TestRunPreparation")
	job := &batchv1.Job{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "tr-initializer"}, job); !apierrors.IsNotFound(err) {
		t.Errorf("reading the initializer: %v, want not found", err)
	}
}

// TestErrors checks cases that end in stage error, without a runner.
func TestErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*bench, *k6v1alpha1.TestRun)
		phase  corev1.PodPhase
	}{
		"script does not parse":   {func(*bench, *k6v1alpha1.TestRun) {}, corev1.PodFailed},
		"fewer VUs than runners":  {func(b *bench, _ *k6v1alpha1.TestRun) { b.cluster.log = `{"maxVUs": 1}` }, corev1.PodSucceeded},
		"inspect printed no JSON": {func(b *bench, _ *k6v1alpha1.TestRun) { b.cluster.log = "oops" }, corev1.PodSucceeded},
		"faked": {func(_ *bench, run *k6v1alpha1.TestRun) {
			run.Annotations = map[string]string{fault.Annotation: fault.InitializerError}
		}, corev1.PodSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			run := makeRun("tr", 2)
			tc.change(b, run)
			b.apply(run)
			b.awaitJob("tr-initializer", tc.phase)
			b.awaitStage(run, k6v1alpha1.StageError)
			b.checkConditions(run, "Unknown/TestRunTypeUnknown", "Unknown/TestRunPreparation")
			jobs := &batchv1.JobList{}
			if err := b.List(t.Context(), jobs, client.InNamespace(b.namespace)); err != nil || len(jobs.Items) != 1 {
				t.Errorf("%d Jobs (%v), want only the initializer", len(jobs.Items), err)
			}
		})
	}
}

// TestStuckInCreated checks runs that stay in stage created, without a starter and without a
// deadline. The cause is a Pod that can't start, a runner that does not answer, or the fault.
func TestStuckInCreated(t *testing.T) {
	for name, prepare := range map[string]func(*bench, *k6v1alpha1.TestRun){
		"a runner is pending": func(b *bench, _ *k6v1alpha1.TestRun) {
			b.awaitJob("tr-1", corev1.PodRunning)
			b.awaitJob("tr-2", corev1.PodPending)
		},
		"a runner does not answer": func(b *bench, run *k6v1alpha1.TestRun) {
			b.cluster.lock.Lock()
			b.cluster.mute[b.address(run, 2)] = true
			b.cluster.lock.Unlock()
			b.awaitJob("tr-1", corev1.PodRunning)
			b.awaitJob("tr-2", corev1.PodRunning)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			run := b.created(makeRun("tr", 2))
			prepare(b, run)
			b.checkStuck(run)
		})
	}
	t.Run("fault", func(t *testing.T) {
		b := newBench(t)
		run := makeRun("tr", 2)
		run.Annotations = map[string]string{fault.Annotation: fault.StuckCreated}
		b.created(run)
		b.awaitJob("tr-1", corev1.PodRunning)
		b.awaitJob("tr-2", corev1.PodRunning)
		b.checkStuck(run)
	})
}

func (b *bench) checkStuck(run *k6v1alpha1.TestRun) {
	b.Helper()
	time.Sleep(3 * startInterval) // Several retries.
	b.read(run)
	if run.Status.Stage != k6v1alpha1.StageCreated || b.starterCommand(run) != "" {
		b.Errorf("stage %s, starter %q; want created and none", run.Status.Stage, b.starterCommand(run))
	}
}

func TestStarterMissesOne(t *testing.T) {
	b := newBench(t)
	run := makeRun("tr", 2)
	run.Annotations = map[string]string{fault.Annotation: fault.StarterMisses + "=1," + fault.RunnerExit + "=2:99"}
	b.created(run)
	b.awaitJob("tr-1", corev1.PodRunning)
	b.awaitJob("tr-2", corev1.PodRunning)
	b.awaitStage(run, k6v1alpha1.StageStarted)
	command := b.starterCommand(run)
	if strings.Contains(command, b.address(run, 1)+":") || !strings.Contains(command, b.address(run, 2)+":") {
		t.Errorf("the starter shall reach runner 2 only: %s", command)
	}
	job := &batchv1.Job{}
	expect.NoError(t, b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "tr-2"}, job))
	if got := job.Spec.Template.Spec.Containers[0].Command[2]; got != `"$@"; exit 99` {
		t.Errorf("runner 2 runs %q, want it to exit with 99", got)
	}
}

// TestSpecIsReadOnce changes the spec of a created run, which has no effect.
func TestSpecIsReadOnce(t *testing.T) {
	b := newBench(t)
	run := b.created(makeRun("tr", 1))
	run.Spec.Runner.Image = "other:image"
	expect.NoError(t, b.Update(t.Context(), run))
	b.awaitJob("tr-1", corev1.PodRunning)
	b.awaitStage(run, k6v1alpha1.StageStarted)
	job := &batchv1.Job{}
	expect.NoError(t, b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: "tr-1"}, job))
	if got := job.Spec.Template.Spec.Containers[0].Image; got != "k6:test" {
		t.Errorf("the runner has image %q, want the first one", got)
	}
}

func TestIgnoredRun(t *testing.T) {
	b := newBench(t)
	ignored := makeRun("ignored", 1)
	ignored.Annotations = map[string]string{fault.Annotation: fault.Ignore}
	b.apply(ignored)
	b.awaitStage(b.apply(makeRun("tr", 1)), k6v1alpha1.StageInitialization)
	b.read(ignored)
	if ignored.Status.Stage != "" || len(ignored.Status.Conditions) > 0 {
		t.Errorf("the ignored run has status %+v", ignored.Status)
	}
}

func TestCleanUp(t *testing.T) {
	b := newBench(t)
	run := makeRun("tr", 1)
	run.Spec.Cleanup = k6v1alpha1.CleanupPost
	b.created(run)
	b.awaitJob("tr-1", corev1.PodRunning)
	b.awaitStage(run, k6v1alpha1.StageStarted)
	b.setPhase("tr-1", corev1.PodSucceeded)
	testcluster.Eventually(t, func() string {
		if err := b.Get(t.Context(), client.ObjectKeyFromObject(run), run); !apierrors.IsNotFound(err) {
			return fmt.Sprintf("the run exists, stage %s (%v)", run.Status.Stage, err)
		}
		return ""
	})
}
