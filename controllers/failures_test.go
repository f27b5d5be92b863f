// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

func TestMissingOperatorsAreReported(t *testing.T) {
	l := newLab(t, bare)
	// If an experiment is deleted before all of them are installed, nothing is left.
	l.create(login(), smallExperiment(t, oneArm))
	l.settle()
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	l.create(smallExperiment(t, oneArm))
	for _, missing := range []struct{ condition, operator, kind, crds string }{
		{v1alpha1.ConditionKafkaReady, "install Strimzi", "Kafka.kafka.strimzi.io", "strimzi"},
		{v1alpha1.ConditionPostgresReady, "install CloudNativePG", "Cluster.postgresql.cnpg.io", "cnpg"},
		{v1alpha1.ConditionTargetReachable, "install k6-operator", "TestRun.k6.io", "k6"},
	} {
		l.settle()
		l.expect(l.run().Status.Conditions, missing.condition, metav1.ConditionFalse, v1alpha1.ReasonOperatorMissing, missing.operator, missing.kind)
		experiment := l.experiment("small")
		l.expect(experiment.Status.Conditions, missing.condition, metav1.ConditionFalse, v1alpha1.ReasonOperatorMissing, missing.operator, missing.kind)
		if !strings.Contains(experiment.Status.WaitingFor, missing.operator) {
			t.Errorf("the experiment waits for %q, want %q", experiment.Status.WaitingFor, missing.operator)
		}
		install(t, missing.crds)
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

// install adds the kinds of one more operator to the bare server.
func install(t *testing.T, operator string) {
	t.Helper()
	for _, path := range foreignCRDs {
		if !strings.Contains(path, operator) {
			continue
		}
		if _, err := envtest.InstallCRDs(bare.Config(t), envtest.CRDInstallOptions{Paths: []string{path}}); err != nil {
			t.Fatalf("installing the kinds of %s: %v", operator, err)
		}
	}
}

func TestUnreachableTargetIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.target.err = errors.New("connection refused")
	l.create(login(), smallExperiment(t, oneArm))
	l.until("a question to the target", func() bool {
		return l.run() != nil && meta.FindStatusCondition(l.run().Status.Conditions, v1alpha1.ConditionTargetReachable) != nil
	})
	for _, conditions := range [][]metav1.Condition{l.run().Status.Conditions, l.experiment("small").Status.Conditions} {
		l.expect(conditions, v1alpha1.ConditionTargetReachable, metav1.ConditionFalse, v1alpha1.ReasonUnreachable, "connection refused")
		l.expect(conditions, v1alpha1.ConditionModulesReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	}
	l.target.err = nil
	l.untilPhase("small", v1alpha1.ExperimentComplete)
}

func TestRepeatedLoadFailureStalls(t *testing.T) {
	l := newLab(t, complete)
	l.outside.exit["cico"] = 107
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 2 }))

	first := l.untilRun(v1alpha1.RunInvalid)
	l.expect(first.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonLoadFailed, "exit code 107", "the script threw an exception", "no such item")
	l.expect(first.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonLoadFailed)

	stalled := l.untilPhase("small", v1alpha1.ExperimentStalled)
	if runs := l.runs(); len(runs) != 2 || runs[1].Spec.Attempt != 2 || runs[1].Spec.Position != runs[0].Spec.Position {
		t.Fatalf("%d runs, want the first and a second attempt at the same place", len(runs))
	}
	l.expect(stalled.Status.Conditions, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonAttemptsExhausted, "2 times", "exit code 107")
	if invalid := stalled.Status.InvalidRuns; len(invalid) != 2 || invalid[0].Reason != v1alpha1.ReasonLoadFailed || stalled.Status.Runs.Invalid != 2 {
		t.Errorf("invalid runs %+v, counted %d, want both with their reason", invalid, stalled.Status.Runs.Invalid)
	}
	if results := stalled.Status.Results; len(results) != 0 {
		t.Errorf("an invalid run has results: %v", results)
	}
	if testRuns := l.foreign(contract.TestRunKind); len(testRuns) != 2 {
		t.Errorf("%d TestRuns are left, want those of both attempts, for debugging", len(testRuns))
	}
}

func TestFailedScriptRequestsInvalidateRun(t *testing.T) {
	l := newLab(t, complete)
	l.outside.refusing = true
	l.create(login(), searchScript(), smallExperiment(t, oneArm, withScript, func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 1 }))
	l.untilPhase("small", v1alpha1.ExperimentStalled)
	run := l.run()
	l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonTooManyErrors, "requests failed (100 %)", "maxFailedRequestsPercent")
	if reported := run.Status.Loads[0].Requests; reported == nil || reported.Count == 0 || reported.FailedPercent != "100" {
		t.Errorf("the status has %+v for the requests, want all failed", reported)
	}
}

func TestFailedTransactionsInvalidateRun(t *testing.T) {
	l := newLab(t, complete)
	l.outside.refusing = true
	l.create(login(), smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if reported := l.run().Status.Loads[0].Requests; reported == nil || reported.FailedPercent != "100" {
		t.Errorf("the status has %+v for the requests, want all failed", reported)
	}
}

// A third-party k6 can print anything; the operator shows none of it, because it can't recognize
// secrets.
func TestForeignK6OutputIsNotShown(t *testing.T) {
	l := newLab(t, complete)
	l.outside.foreignK6 = true
	run := l.failingScript(func(e *v1alpha1.PerfExperiment) {
		e.Spec.Scenarios[0].Loads[0].Script.Image = "example.org/upstream:1"
	})
	l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonLoadFailed, "exit code 107", "perflab logs "+run.Name)
	l.expectNotShown(run, "diku_admin", password)
}

// Our k6 reports the script's error, without secrets.
func TestK6ErrorIsShownWithoutSecrets(t *testing.T) {
	l := newLab(t, complete)
	run := l.failingScript()
	l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonLoadFailed,
		"exit code 107: the script threw an exception: cannot log in as diku_admin with ***")
	l.expectNotShown(run, password)
}

// failingScript is the run of a script that prints its password at its end.
func (l *lab) failingScript(edits ...func(*v1alpha1.PerfExperiment)) *v1alpha1.PerfRun {
	l.t.Helper()
	l.outside.exit["cico"], l.outside.lastWords = 107, "cannot log in as diku_admin with "+password
	once := func(e *v1alpha1.PerfExperiment) { e.Spec.Validity.MaxAttempts = 1 }
	l.create(login(), searchScript(), smallExperiment(l.t, append([]func(*v1alpha1.PerfExperiment){oneArm, withScript, once}, edits...)...))
	l.untilPhase("small", v1alpha1.ExperimentStalled)
	return l.run()
}

// expectNotShown searches for texts in all that the operator shows of a run and stores.
func (l *lab) expectNotShown(run *v1alpha1.PerfRun, words ...string) {
	l.t.Helper()
	kept := &corev1.ConfigMap{}
	if run.Status.RawResults != "" {
		kept = l.configMap(run.Status.RawResults)
	}
	reported, err := json.Marshal([]any{l.experiment("small").Status, run.Status, l.events.reported, kept.Data})
	expect.NoError(l.t, err)
	for _, word := range words {
		if strings.Contains(string(reported), word) {
			l.t.Errorf("status, events or stored objects contain %q: %s", word, reported)
		}
	}
}

func TestLoadLogIsKept(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	run := l.run()
	kept := l.configMap(run.Status.RawResults)
	if reported := kept.Data["cico.log"]; !strings.Contains(reported, ": info: hello, ***\n") {
		t.Errorf("%q is stored of a valid run, want k6's summary of its log", reported)
	}
	l.expectNotShown(run, password)
}

func TestRepeatedLoadSucceeds(t *testing.T) {
	l := newLab(t, complete)
	l.outside.exit["cico"] = 107
	l.create(login(), smallExperiment(t, oneArm))
	l.untilRun(v1alpha1.RunInvalid)
	delete(l.outside.exit, "cico")
	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	if done.Status.Progress != "1/1" || done.Status.Runs.Invalid != 1 || len(l.runs()) != 2 {
		t.Errorf("progress %s, %d invalid of %d runs, want 1/1 with 1 of 2", done.Status.Progress, done.Status.Runs.Invalid, len(l.runs()))
	}
}

func TestEnvironmentTimeoutEndsRun(t *testing.T) {
	l := newLab(t, complete)
	l.outside.withoutPostgres = true
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Deadlines.Environment = &metav1.Duration{Duration: 3 * time.Minute}
	}))
	l.until("a silent CloudNativePG", func() bool {
		found := meta.FindStatusCondition(l.experiment("small").Status.Conditions, v1alpha1.ConditionPostgresReady)
		return found != nil && found.Reason == v1alpha1.ReasonOperatorSilent
	})
	begun := l.run().Status.Timings.ProvisionStart.Time
	invalid := l.untilRun(v1alpha1.RunInvalid)
	l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonDeadline, "3m0s", "PostgreSQL", "CloudNativePG operator")
	if took := invalid.Status.Timings.Finish.Sub(begun); took < 3*time.Minute || took > 4*time.Minute {
		t.Errorf("the run was given up after %s, want it soon after 3m", took)
	}
}

// CloudNativePG may wait forever for a replica that waits for a lost primary. The next run rebuilds
// the cluster, but not other components.
func TestFailedComponentIsRebuilt(t *testing.T) {
	for name, kind := range map[string]schema.GroupVersionKind{"Kafka": contract.KafkaKind("v1"), "PostgreSQL": contract.PostgresClusterKind} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
				e.Spec.Deadlines.Environment = &metav1.Duration{Duration: 3 * time.Minute}
			}))
			l.settle()
			made := l.foreign(kind)[0]
			lost := made.GetUID()
			l.outside.lost = map[types.UID]bool{lost: true}
			// The API server's timestamps are whole seconds: the next run must be younger.
			time.Sleep(time.Until(made.GetCreationTimestamp().Add(time.Second)))
			invalid := l.untilRun(v1alpha1.RunInvalid)
			l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonDeadline, name)
			if kept := l.foreign(kind)[0].GetUID(); kept != lost {
				t.Error("it was rebuilt in the run that had created it, before that run's time limit")
			}
			done := l.untilPhase("small", v1alpha1.ExperimentComplete)
			if done.Status.Progress != "1/1" || done.Status.Runs.Invalid != 1 {
				t.Errorf("progress %s, %d invalid, want 1/1 with 1", done.Status.Progress, done.Status.Runs.Invalid)
			}
		})
	}
}

func TestLoadStartTimeoutEndsRun(t *testing.T) {
	l := newLab(t, complete)
	l.outside.withoutK6 = true
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Deadlines.LoadStart = &metav1.Duration{Duration: 2 * time.Minute}
	}))
	invalid := l.untilRun(v1alpha1.RunInvalid)
	l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonLoadStuck, `load "cico"`, "2m0s", "k6-operator")
}

func TestUnreadableResultsInvalidateRun(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.until("loads that are on", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
	l.play()
	l.now = l.now.Add(time.Minute)
	l.play()
	l.logs.clear()
	invalid := l.untilRun(v1alpha1.RunInvalid)
	l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonResultsMissing, `load "cico"`, "the pod has no log")
}

// A log with another run's results, or with more than fits into the operator's memory, makes the
// run invalid, and the operator continues.
func TestForeignResultsInvalidateRun(t *testing.T) {
	for name, test := range map[string]struct {
		forge   func(*payload.Payload)
		reason  string
		message []string
	}{
		"of another run": {
			forge:  func(p *payload.Payload) { p.Run = "another" },
			reason: v1alpha1.ReasonResultsForeign, message: []string{`load "cico"`, `of run "another"`},
		},
		"of another pod": {
			forge:  func(p *payload.Payload) { p.Runner = "another" },
			reason: v1alpha1.ReasonResultsForeign, message: []string{`of pod "another"`},
		},
		"a bomb": {
			forge:  func(p *payload.Payload) { p.Load = strings.Repeat("a", 64<<20) },
			reason: v1alpha1.ReasonResultsTooLarge, message: []string{`load "cico"`, "120 MiB"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.outside.forge = test.forge
			l.create(login(), smallExperiment(t, oneArm))
			invalid := l.untilRun(v1alpha1.RunInvalid)
			l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, test.reason, test.message...)
			l.outside.forge = nil
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		})
	}
}

func TestWrongTopicsInvalidateRun(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.until("topics", func() bool { return len(l.brokers.names()) > 0 })
	l.outside.withoutStrimzi = true
	for _, topic := range l.brokers.names() {
		l.brokers.put(topic, kafka.TopicState{Partitions: 3, Replicas: 1})
	}
	invalid := l.untilRun(v1alpha1.RunInvalid)
	l.expect(invalid.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonEffectiveConfiguration, "has 3 partitions in Kafka, but 1 is declared")
}

func TestMissingImageIsReportedFirst(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.settle()
	checks := l.pods(naming.ComponentLabels("small", environment.ComponentImages))
	if len(checks) != 1 {
		t.Fatalf("%d pods look for images, want 1", len(checks))
	}
	l.wait(checks[0], "ImagePullBackOff", `Back-off pulling image "example.org/gateway:1": not found`)
	l.settle()
	for _, conditions := range [][]metav1.Condition{l.run().Status.Conditions, l.experiment("small").Status.Conditions} {
		l.expect(conditions, v1alpha1.ConditionImagesAvailable, metav1.ConditionFalse, v1alpha1.ReasonImagePull, "example.org/k6:1", "not found")
	}
}

func TestFailedRunnerStartIsReported(t *testing.T) {
	l := newLab(t, complete)
	l.outside.withoutK6 = true
	l.create(smallExperiment(t, oneArm)) // and no Secret
	l.until("a TestRun", func() bool { return len(l.foreign(contract.TestRunKind)) > 0 })
	testRun := l.foreign(contract.TestRunKind)[0]
	l.startRunners(&testRun)
	l.setStatus(&testRun, map[string]any{"stage": string(contract.StageCreated)})
	for _, pod := range l.pods(map[string]string{contract.LabelTestRun: testRun.GetName()}) {
		l.wait(pod, "CreateContainerConfigError", `secret "login" not found`)
	}
	l.settle()
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionLoadsComplete, metav1.ConditionFalse, v1alpha1.ReasonConfiguration, `secret "login" not found`)
	if waiting := l.experiment("small").Status.WaitingFor; !strings.Contains(waiting, `secret "login" not found`) {
		t.Errorf("the experiment waits for %q, want it to name the Secret", waiting)
	}
}

// wait sets a waiting reason of a pod's container, as the kubelet does.
func (l *lab) wait(pod corev1.Pod, reason, message string) {
	l.t.Helper()
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, StartTime: &metav1.Time{Time: l.now}, ContainerStatuses: []corev1.ContainerStatus{{
		Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image,
		State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
	}}}
	l.writeStatus(&pod)
}
