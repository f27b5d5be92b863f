//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// TestExperiment runs a whole experiment and kills the operator in the middle of its
// first load.
func TestExperiment(t *testing.T) {
	ctx := t.Context()
	experiment := apply(t, namespace(t), "testdata/experiment.yaml")

	awaitPhase(ctx, t, experiment, v1alpha1.RunLoading, 8*time.Minute)
	killOperator(ctx, t)
	awaitComplete(ctx, t, experiment, 15*time.Minute)

	done := runs(ctx, t, experiment.Namespace)
	t.Run("every run runs once", func(t *testing.T) { assertRunsDoneOnce(t, done) })
	t.Run("numbers are plausible", func(t *testing.T) { assertPlausible(t, done) })
	t.Run("imports are complete", func(t *testing.T) { assertImports(t, done) })
	t.Run("partitions are as declared", func(t *testing.T) { assertPartitions(t, done) })
	t.Run("heap is as declared", func(t *testing.T) { assertJavaOptions(ctx, t, experiment) })
	t.Run("raw results are kept", func(t *testing.T) { assertRaw(ctx, t, done) })
	t.Run("results are in the status", func(t *testing.T) { assertResults(t, get(ctx, t, experiment)) })
	t.Run("results can be imported", func(t *testing.T) { assertImport(ctx, t, experiment) })
	t.Run("deletion leaves nothing", func(t *testing.T) { assertDeletion(ctx, t, experiment) })
}

func awaitPhase(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment, phase v1alpha1.RunPhase, limit time.Duration) {
	t.Helper()
	await.Until(ctx, t, limit, fmt.Sprintf("a run to be %s", phase), func() (bool, string) {
		current := get(ctx, t, experiment)
		if current.Status.Current == nil {
			return false, "no run"
		}
		return current.Status.Current.Phase == phase, fmt.Sprintf("%+v", *current.Status.Current)
	})
}

func awaitComplete(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment, limit time.Duration) {
	t.Helper()
	await.Until(ctx, t, limit, "the experiment to be complete", func() (bool, string) {
		current := get(ctx, t, experiment)
		if current.Status.Phase == v1alpha1.ExperimentStalled {
			t.Fatalf("the experiment stalled: %s", current.Status.WaitingFor)
		}
		complete := meta.IsStatusConditionTrue(current.Status.Conditions, v1alpha1.ConditionComplete)
		return complete, current.Status.Progress + " " + current.Status.WaitingFor
	})
}

func killOperator(ctx context.Context, t *testing.T) {
	t.Helper()
	now := int64(0)
	err := cluster.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(operatorNamespace),
		client.MatchingLabels{"app.kubernetes.io/name": "perflab-operator"},
		client.GracePeriodSeconds(now))
	expect.NoError(t, err, "killing the operator")
}

func assertRunsDoneOnce(t *testing.T, done []v1alpha1.PerfRun) {
	t.Helper()
	seen := map[string]int{}
	for _, run := range done {
		if run.Status.Phase != v1alpha1.RunSucceeded {
			t.Errorf("run %s is %s: %s", run.Name, run.Status.Phase, run.Status.Message)
		}
		seen[fmt.Sprintf("%d/%s/%s", run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name)]++
		for _, load := range run.Status.Loads {
			if load.CreateTime == nil || load.StartTime.Before(load.CreateTime) {
				t.Errorf("run %s: load %s started at %v, before it was created at %v", run.Name, load.Name, load.StartTime, load.CreateTime)
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d different runs were done, want 2 blocks x 2 arms x 1 scenario", len(seen))
	}
	for place, times := range seen {
		if times != 1 {
			t.Errorf("%s was done %d times", place, times)
		}
	}
}

func assertPlausible(t *testing.T, done []v1alpha1.PerfRun) {
	t.Helper()
	for _, run := range done {
		for _, transaction := range []string{"Check-In", "Check-Out"} {
			name := "cico/" + transaction + "/"
			average, p75, p95, most := observed(t, run, name+"average"), observed(t, run, name+"p75"), observed(t, run, name+"p95"), observed(t, run, name+"max")
			if !(average > 0 && p95 >= average && p95 >= p75 && most >= p95) {
				t.Errorf("run %s, %s: average %v, p75 %v, p95 %v, max %v", run.Name, transaction, average, p75, p95, most)
			}
			if samples := observed(t, run, name+"samples"); samples < 3 {
				t.Errorf("run %s, %s: only %v samples", run.Name, transaction, samples)
			}
		}
		timings := run.Status.Durations
		if timings == nil || timings.Load.Duration <= 0 || timings.Ready.Duration <= 0 {
			t.Errorf("run %s: durations %+v", run.Name, timings)
		}
	}
}

func assertImports(t *testing.T, done []v1alpha1.PerfRun) {
	t.Helper()
	for _, run := range done {
		if records := observed(t, run, "create/records"); records != 200 {
			t.Errorf("run %s imported %v records, want exactly 200", run.Name, records)
		}
		if failed := observed(t, run, "create/failedRecords"); failed != 0 {
			t.Errorf("run %s failed %v records", run.Name, failed)
		}
		if took := observed(t, run, "create/duration"); took <= 0 || took > observed(t, run, "create/clientDuration") {
			t.Errorf("run %s: the import took %v s by the job and %v s by the client", run.Name, took, observed(t, run, "create/clientDuration"))
		}
	}
}

func assertPartitions(t *testing.T, done []v1alpha1.PerfRun) {
	t.Helper()
	wants := map[string]int32{"base": 1, "wide": 3}
	for _, run := range done {
		if run.Status.Effective == nil || len(run.Status.Effective.Topics) != 1 {
			t.Errorf("run %s: effective configuration %+v", run.Name, run.Status.Effective)
			continue
		}
		topics := run.Status.Effective.Topics[0]
		if topics.Topics != 4 || topics.Partitions != wants[run.Spec.Arm] {
			t.Errorf("run %s: Kafka has %d topics of %d partitions, want 4 of %d", run.Name, topics.Topics, topics.Partitions, wants[run.Spec.Arm])
		}
	}
}

// assertJavaOptions checks the Deployments of the last run: the heap is limited in one way
// only.
func assertJavaOptions(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment) {
	t.Helper()
	all := runs(ctx, t, experiment.Namespace)
	slices.SortFunc(all, func(a, b v1alpha1.PerfRun) int { return int(a.Spec.Position - b.Spec.Position) })
	const logged = "-Xlog:gc+init:stdout "
	want := map[string]string{"base": logged + "-Xmx128m -XX:+UseSerialGC", "wide": logged + "-XX:MaxRAMPercentage=33.0 -XX:+UseSerialGC"}[all[len(all)-1].Spec.Arm]
	deployment := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: experiment.Namespace, Name: experiment.Name + "-data-import"}
	expect.NoError(t, cluster.Get(ctx, key, deployment), "reading a module's Deployment")
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		if variable.Name == "JAVA_OPTIONS" && variable.Value != want {
			t.Errorf("JAVA_OPTIONS = %q, want %q", variable.Value, want)
		}
	}
}

// assertRaw checks that the stored histograms contain the value in the status.
func assertRaw(ctx context.Context, t *testing.T, done []v1alpha1.PerfRun) {
	t.Helper()
	for _, run := range done {
		raw := &corev1.ConfigMap{}
		expect.NoError(t, cluster.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: run.Status.RawResults}, raw), "reading the raw results of run %s", run.Name)
		stored, err := payload.Unmarshal(raw.BinaryData["create"])
		expect.NoError(t, err, "unpacking the raw results of run %s", run.Name)
		job, ok := stored.Summary("Import job", "ok")
		if !ok || fmt.Sprintf("%.3f", job.Mean.Seconds()) != fmt.Sprintf("%.3f", observed(t, run, "create/duration")) {
			t.Errorf("run %s: raw import duration %v, status %v s", run.Name, job.Mean, observed(t, run, "create/duration"))
		}
	}
}

func assertResults(t *testing.T, experiment *v1alpha1.PerfExperiment) {
	t.Helper()
	found := map[string]v1alpha1.Result{}
	for _, result := range experiment.Status.Results {
		found[result.Metric+"@"+result.Arm] = result
	}
	base, wide := found["create/duration@base"], found["create/duration@wide"]
	if base.Runs != 2 || wide.Runs != 2 || base.StandardDeviation == "" || wide.DeltaPercent == "" || base.DeltaPercent != "" {
		t.Errorf("import duration: base %+v, wide %+v; want two runs each, a spread, and a delta on the arm only", base, wide)
	}
}

func assertDeletion(ctx context.Context, t *testing.T, experiment *v1alpha1.PerfExperiment) {
	t.Helper()
	expect.NoError(t, cluster.Delete(ctx, experiment.DeepCopy()), "deleting the experiment")
	await.Until(ctx, t, 3*time.Minute, "the experiment to be deleted", func() (bool, string) {
		return gone(ctx, t, experiment.DeepCopy()), "it exists"
	})
	// Objects of runs are garbage-collected in the background.
	await.Until(ctx, t, time.Minute, "its objects to be deleted", func() (bool, string) {
		left := leftovers(ctx, t, experiment.Namespace)
		return len(left) == 0, fmt.Sprint(left)
	})
}

func leftovers(ctx context.Context, t *testing.T, namespace string) []string {
	t.Helper()
	kinds := []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("Pod"),
		corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
		appsv1.SchemeGroupVersion.WithKind("Deployment"),
		v1alpha1.GroupVersion.WithKind("PerfRun"),
		{Group: "k6.io", Version: "v1alpha1", Kind: "TestRun"},
		{Group: "postgresql.cnpg.io", Version: "v1", Kind: "Cluster"},
		{Group: "kafka.strimzi.io", Version: "v1", Kind: "Kafka"},
		{Group: "kafka.strimzi.io", Version: "v1", Kind: "KafkaNodePool"},
		{Group: "kafka.strimzi.io", Version: "v1", Kind: "KafkaTopic"},
	}
	var left []string
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		expect.NoError(t, cluster.List(ctx, list, client.InNamespace(namespace)), "listing %s", kind.Kind)
		for _, object := range list.Items {
			left = append(left, kind.Kind+" "+object.GetName())
		}
	}
	return left
}

func observed(t *testing.T, run v1alpha1.PerfRun, metric string) float64 {
	t.Helper()
	for _, observation := range run.Status.Observations {
		if observation.Metric != metric {
			continue
		}
		value, err := strconv.ParseFloat(observation.Value, 64)
		if err != nil {
			t.Fatalf("run %s: %s = %q is not a number", run.Name, metric, observation.Value)
		}
		return value
	}
	t.Fatalf("run %s has no %s", run.Name, metric)
	return 0
}
