// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestExperimentCompletes(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t))
	l.settle()
	begun := l.experiment("small")
	l.expect(begun.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionUnknown, v1alpha1.ReasonProgressing)
	if begun.Status.Phase != v1alpha1.ExperimentRunning || begun.Status.Progress != "0/2" || begun.Status.Current == nil || begun.Status.StartTime == nil {
		t.Errorf("after the first pass: %+v", begun.Status)
	}

	done := l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.expect(done.Status.Conditions, v1alpha1.ConditionComplete, metav1.ConditionTrue, v1alpha1.ReasonComplete)
	l.expect(done.Status.Conditions, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonComplete)
	if done.Status.Progress != "2/2" || done.Status.CompletionTime == nil || len(l.runs()) != 2 {
		t.Errorf("progress %s with %d runs, completed %v; want 2/2 with 2", done.Status.Progress, len(l.runs()), done.Status.CompletionTime)
	}
	checkResults(t, done.Status.Results)
	for _, run := range l.runs() {
		checkRun(t, run)
	}
	l.until("the end of the environment", func() bool { return len(l.environment()) == 0 })
	if testRuns := l.foreign(contract.TestRunKind); len(testRuns) != 0 {
		t.Errorf("%d TestRuns are left", len(testRuns))
	}
	for _, reported := range []string{"Normal RunStarted", "Normal Loading", "Normal Succeeded", "Normal Complete: 2 of 2 runs are finished"} {
		if !slices.ContainsFunc(l.events.reported, func(event string) bool { return strings.HasPrefix(event, reported) }) {
			t.Errorf("missing event %q in %q", reported, l.events.reported)
		}
	}
}

// checkResults: a check-in takes 100 ms and a check-out 200 ms, a tenth more in the slow arm.
func checkResults(t *testing.T, results []v1alpha1.Result) {
	t.Helper()
	result := func(metric, arm, mean, delta string) v1alpha1.Result {
		return v1alpha1.Result{Scenario: "cico", Metric: metric, Arm: arm, Unit: "ms", Runs: 1, Mean: mean, DeltaPercent: delta}
	}
	want := []v1alpha1.Result{
		result("cico/Check-In/average", "as-is", "100", ""),
		result("cico/Check-In/average", "slow", "110", "10.00"),
		result("cico/Check-Out/average", "as-is", "200", ""),
		result("cico/Check-Out/average", "slow", "220", "10.00"),
	}
	averages := slices.DeleteFunc(slices.Clone(results), func(r v1alpha1.Result) bool { return !strings.HasSuffix(r.Metric, "/average") })
	expect.Equal(t, want, averages, "averages")
}

func checkRun(t *testing.T, run v1alpha1.PerfRun) {
	t.Helper()
	status := run.Status
	partitions := map[string]int32{"as-is": 1, "slow": 2}[run.Spec.Arm]
	want := &v1alpha1.EffectiveSystem{
		KafkaMode: "KRaft", KafkaVersion: "4.3.1", KafkaBrokers: 1, PostgresInstances: 1,
		Postgres: &v1alpha1.EffectivePostgres{
			StreamingReplicas: ptr.To[int32](0), SynchronousReplicas: ptr.To[int32](0),
			ReplicaReads: ptr.To[int64](0), PrimaryReads: ptr.To[int64](0),
			Servers: []v1alpha1.EffectiveServer{{Name: "small-pg-1", RowsRead: ptr.To[int64](7)}},
		},
		Topics:  []v1alpha1.EffectiveTopics{{Group: "data-import", Topics: 1, Partitions: partitions, Replicas: 1, Source: "broker metadata"}},
		Modules: []v1alpha1.EffectiveModule{{Name: "gateway", Replicas: 1, ImageID: "example.org/any@sha256:1"}},
	}
	if diff := cmp.Diff(want, status.Effective, cmpopts.IgnoreFields(v1alpha1.EffectiveModule{}, "Pods"), cmpopts.IgnoreFields(v1alpha1.EffectiveSystem{}, "KafkaPods", "PostgresPods")); diff != "" {
		t.Errorf("run %s: effective configuration (-want +got):\n%s", run.Name, diff)
	}
	timings := []*metav1.Time{
		status.Timings.ProvisionStart, status.Timings.Provisioned, status.Timings.Ready,
		status.Timings.LoadStart, status.Timings.LoadFinish, status.Timings.CollectStart, status.Timings.Finish,
	}
	for i, timing := range timings {
		if timing == nil || i > 0 && timing.Before(timings[i-1]) {
			t.Errorf("run %s: timing %d of %v is missing or out of order", run.Name, i+1, timings)
		}
	}
	if status.Phase != v1alpha1.RunSucceeded || status.Durations == nil || status.Durations.Load.Seconds() != 10 {
		t.Errorf("run %s is %s with durations %+v, want it to have succeeded with 10 s of load", run.Name, status.Phase, status.Durations)
	}
}

func TestRawResultsAreStored(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	raw := &corev1.ConfigMapList{}
	l.list(raw, client.MatchingLabels{v1alpha1.LabelRun: l.run().Name})
	if len(raw.Items) != 1 || raw.Items[0].Name != l.run().Status.RawResults || len(raw.Items[0].BinaryData["cico"]) == 0 {
		t.Fatalf("ConfigMaps %v, want the one %q with the histograms of cico", raw.Items, l.run().Status.RawResults)
	}
}

// Raw results that fit into no ConfigMap are not read repeatedly.
func TestOversizedRawResultsAreDropped(t *testing.T) {
	l := newLab(t, complete)
	l.outside.bulky = true
	l.create(login(), smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	raw := &corev1.ConfigMap{}
	expect.NoError(t, l.admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: l.run().Status.RawResults}, raw))
	if left := raw.Annotations[v1alpha1.AnnotationLeftOut]; left != "cico" || len(raw.BinaryData["cico"]) > 0 {
		t.Errorf("%d bytes are stored, and %q is left out", len(raw.BinaryData["cico"]), left)
	}
	if len(l.run().Status.Observations) == 0 {
		t.Error("the run has no observations")
	}
}

// environment lists the objects of the experiment's environment.
func (l *lab) environment() []string {
	l.t.Helper()
	var names []string
	for _, kind := range environmentKinds {
		for _, object := range l.foreign(kind) {
			names = append(names, object.GetKind()+" "+object.GetName())
		}
	}
	return names
}
