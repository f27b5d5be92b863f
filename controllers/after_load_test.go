// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
)

// underLoad brings a run into its load phase.
func underLoad(t *testing.T, edits ...func(*v1alpha1.PerfExperiment)) *lab {
	t.Helper()
	l := newLab(t, complete)
	l.outside.held["cico"] = true
	l.create(login(), smallExperiment(t, append([]func(*v1alpha1.PerfExperiment){oneArm}, edits...)...))
	l.until("loads that are on", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
	l.settle()
	return l
}

// lose deletes the pods of a server, and lets its operator recreate them.
func (l *lab) lose(labels map[string]string) {
	l.t.Helper()
	for _, pod := range l.pods(labels) {
		expect.NoError(l.t, l.admin.Delete(l.t.Context(), &pod, client.GracePeriodSeconds(0)))
	}
	l.play()
}

func TestLostBrokerInvalidatesRun(t *testing.T) {
	broker := map[string]string{contract.LabelStrimziCluster: "small"}
	cases := map[string]struct {
		reason        string
		allowedWrites int32
		want          string
		message       []string
	}{
		"WithItsDisk": {
			reason:        "an ephemeral disk is deleted with its pod, and the topics with it, which no restart limit allows",
			allowedWrites: 1,
			want:          v1alpha1.ReasonEffectiveConfiguration, message: []string{"after the load, topic", "is not in Kafka"},
		},
		"WithoutItsDisk": {
			reason: "the topics are back, but the broker was unavailable for a while: the load can end",
			want:   v1alpha1.ReasonRestarts, message: []string{"Kafka 1 time", "validity.maxRestarts allows 0"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := underLoad(t, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxRestarts = &tc.allowedWrites })
			l.lose(broker)
			if tc.allowedWrites > 0 {
				l.brokers.clear()
				l.outside.held["cico"] = false
			}
			invalid := l.untilRun(v1alpha1.RunInvalid)
			l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, tc.want, tc.message...)
			if effective := invalid.Status.Effective; effective.KafkaRestarts != 1 || len(effective.KafkaPods) != 1 {
				t.Errorf("%s: %d restarts of %d pods in the record, want 1 of 1", tc.reason, effective.KafkaRestarts, len(effective.KafkaPods))
			}
		})
	}
}

func TestReplacedPostgresInvalidatesRun(t *testing.T) {
	l := underLoad(t)
	l.lose(map[string]string{contract.LabelPostgresRole: contract.PostgresRoleInstance})
	l.outside.held["cico"] = false
	invalid := l.untilRun(v1alpha1.RunInvalid)
	l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonRestarts, "PostgreSQL 1 time")
}

func TestUnreachableBrokersAreRetriedAfterLoad(t *testing.T) {
	l := underLoad(t)
	l.brokers.err = errors.New("connection refused")
	l.outside.held["cico"] = false
	l.until("the end of the loads", func() bool { return l.run().Status.Timings.LoadFinish != nil })
	if run := l.run(); run.Status.Phase.IsFinal() || !strings.Contains(run.Status.Message, "the brokers don't answer") {
		t.Fatalf("the run is %s (%s), want a retry", run.Status.Phase, run.Status.Message)
	}
	invalid := l.untilRun(v1alpha1.RunInvalid)
	l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonEffectiveConfiguration, "after the load, the brokers don't answer")
}

func TestSameFailureTwiceStalls(t *testing.T) {
	l := newLab(t, complete)
	l.outside.moduleLog = strings.ReplaceAll(started, "676M", "256M")
	l.create(login(), smallExperiment(t, oneArm, heapOf66Percent, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 5 }))
	stalled := l.untilPhase("small", v1alpha1.ExperimentStalled)
	l.expect(stalled.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonAttemptsExhausted,
		"was invalid 2 times for the same reason, which a retry would not change")
	if runs := l.runs(); len(runs) != 2 {
		t.Errorf("%d attempts, want 2", len(runs))
	}
}

func TestLoadsWaitForTheirImages(t *testing.T) {
	l := newLab(t, complete)
	l.outside.withoutImages = true
	l.create(login(), smallExperiment(t, oneArm))
	l.until("an environment", func() bool {
		return len(l.pods(map[string]string{contract.LabelStrimziCluster: "small"})) > 0 && len(l.gateways()) > 0
	})
	l.play()
	l.settle()
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionImagesAvailable, metav1.ConditionFalse, v1alpha1.ReasonPulling, "0 of 2 images are available; pulling example.org/k6:1")
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionModulesReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	if testRuns := l.foreign(contract.TestRunKind); len(testRuns) > 0 || l.run().Status.Timings.Ready != nil {
		t.Error("a load has started although its image may be missing")
	}
	l.outside.withoutImages = false
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

// warn records an event about an object, as the kubelet and controllers do.
func (l *lab) warn(about metav1.Object, reason, message string) {
	l.t.Helper()
	l.create(&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: about.GetName() + "." + strings.ToLower(reason)},
		InvolvedObject: corev1.ObjectReference{Namespace: l.namespace, Name: about.GetName(), UID: about.GetUID()},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message,
	})
}

func TestFailedProbeQuotesKubelet(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	deployments := &appsv1.DeploymentList{}
	l.until("a module", func() bool { l.list(deployments); return len(deployments.Items) > 0 })
	l.playModules()
	pod := l.gateways()[0]
	pod.Status.Conditions = nil
	pod.Status.ContainerStatuses[0].Ready = false
	l.writeStatus(&pod)
	l.list(deployments)
	deployments.Items[0].Status.ReadyReplicas, deployments.Items[0].Status.AvailableReplicas = 0, 0
	l.writeStatus(&deployments.Items[0])
	l.warn(&pod, "Unhealthy", `Startup probe failed: Get "http://10.0.0.7:8180/health": dial tcp 10.0.0.7:8180: connect: connection refused`)
	l.now = l.now.Add(30 * time.Second)
	l.settle()
	for _, conditions := range [][]metav1.Condition{l.run().Status.Conditions, l.experiment("small").Status.Conditions} {
		l.expect(conditions, v1alpha1.ConditionModulesReady, metav1.ConditionFalse, v1alpha1.ReasonNotReady, "its startup probe fails: connection refused")
	}
}

// Only Strimzi's log has the reason why admission refuses its pods.
func TestRefusedKafkaPodsQuoteAPIServer(t *testing.T) {
	l := newLab(t, complete)
	l.outside.withoutStrimzi = true
	l.enforceRestricted()
	l.create(login(), smallExperiment(t, oneArm))
	l.until("a Kafka", func() bool { return len(l.foreign(contract.KafkaKind("v1"))) > 0 })
	kafka := l.foreign(contract.KafkaKind("v1"))[0]
	l.setStatus(&kafka, map[string]any{
		"observedGeneration": int64(0),
		"conditions":         []any{map[string]any{"type": "NotReady", "status": "True", "reason": "Creating"}},
	})
	podSet := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"selector": map[string]any{},
		"pods": []any{map[string]any{
			"metadata": map[string]any{"name": "small-broker-0"},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "kafka", "image": "example.org/kafka:1"}}},
		}},
	}}}
	podSet.SetGroupVersionKind(contract.StrimziPodSetKind.WithVersion("v1"))
	podSet.SetName("small-broker")
	podSet.SetLabels(map[string]string{contract.LabelStrimziCluster: "small"})
	// Strimzi sets owners that are not controllers.
	podSet.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: kafka.GetAPIVersion(), Kind: kafka.GetKind(), Name: kafka.GetName(), UID: kafka.GetUID()}})
	l.create(podSet)
	l.now = l.now.Add(time.Minute)
	l.settle()
	for _, conditions := range [][]metav1.Condition{l.run().Status.Conditions, l.experiment("small").Status.Conditions} {
		l.expect(conditions, v1alpha1.ConditionKafkaReady, metav1.ConditionFalse, v1alpha1.ReasonRefused,
			`the cluster refuses the pods of Kafka "small"`, "violates PodSecurity", "runAsNonRoot")
	}
	if pods := l.pods(map[string]string{contract.LabelStrimziCluster: "small"}); len(pods) > 0 {
		t.Errorf("the dry run created %d pods", len(pods))
	}
}

// enforceRestricted makes the API server enforce the restricted Pod Security Standard in the
// namespace.
func (l *lab) enforceRestricted() {
	l.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: l.namespace}}
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`))
	expect.NoError(l.t, l.admin.Patch(l.t.Context(), namespace, patch))
}

// A Job has no condition that reports a refused pod. While the pod is refused, nothing runs
// without it.
func TestRefusedJobPodQuotesAPIServer(t *testing.T) {
	cases := map[string]struct {
		edit      func(*v1alpha1.PerfExperiment)
		job       string
		condition string
		message   string
	}{
		"the collector's": {edit: oneArm, job: "-collector", condition: v1alpha1.ConditionLoadsComplete, message: "the cluster refuses the pod of the collector"},
		"the restore's":   {edit: restoring(bySQL), job: "-restore", condition: v1alpha1.ConditionDataRestored, message: "the cluster refuses its pod"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			collectors := withCollectors(l)
			collectors.absent, l.outside.unrestored = true, true
			l.create(login(), script(), smallExperiment(t, oneArm, tc.edit))
			var job *batchv1.Job
			l.until("the Job", func() bool { job = l.job(tc.job); return job != nil })
			l.warn(job, "FailedCreate", `Error creating: pods "x" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3`)
			l.now = job.CreationTimestamp.Add(2 * time.Minute)
			reported := func() bool {
				found := meta.FindStatusCondition(l.run().Status.Conditions, tc.condition)
				return found != nil && found.Reason == v1alpha1.ReasonRefused
			}
			l.until("the refusal in a condition", reported)
			l.expect(l.run().Status.Conditions, tc.condition, metav1.ConditionFalse, v1alpha1.ReasonRefused, tc.message, "exceeded quota: few")
			if testRuns := l.foreign(contract.TestRunKind); len(testRuns) > 0 {
				t.Error("the load has started")
			}
			collectors.absent, l.outside.unrestored = false, false
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		})
	}
}

// job returns the Job whose name has this suffix.
func (l *lab) job(suffix string) *batchv1.Job {
	l.t.Helper()
	jobs := &batchv1.JobList{}
	l.list(jobs)
	for i := range jobs.Items {
		if strings.HasSuffix(jobs.Items[i].Name, suffix) {
			return &jobs.Items[i]
		}
	}
	return nil
}
