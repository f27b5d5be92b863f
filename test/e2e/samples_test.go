//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
)

const localSamples = "../../config/samples/local/"

// shortenedRecords is the number of records of a shortened import.
const shortenedRecords = 300

// shorten reduces an experiment to one block of short loads. This shows that the experiment
// works, but is not enough for a verdict.
func shorten(e *v1alpha1.PerfExperiment) {
	e.Spec.Design = v1alpha1.Design{Blocks: 1, Seed: e.Spec.Design.Seed}
	e.Spec.Measurement.WarmUp = &metav1.Duration{Duration: 2 * time.Second}
	for _, scenario := range e.Spec.Scenarios {
		for i := range scenario.Loads {
			load := &scenario.Loads[i]
			if load.Duration != nil {
				load.Duration = &metav1.Duration{Duration: 15 * time.Second}
			}
			if load.StartAfter != nil {
				load.StartAfter = &metav1.Duration{Duration: 3 * time.Second}
			}
			if load.DataImport != nil {
				load.DataImport.Records = min(load.DataImport.Records, shortenedRecords)
			}
		}
	}
}

// runShortened runs a shortened version of the local copy of a published experiment with
// its system. It returns the experiment and its runs when it is complete.
func runShortened(t *testing.T, file string) (*v1alpha1.PerfExperiment, []v1alpha1.PerfRun) {
	t.Helper()
	complete, done := runSample(t, file, shorten)
	assertSingleFactor(t, complete)
	return complete, done
}

func assertSingleFactor(t *testing.T, experiment *v1alpha1.PerfExperiment) {
	t.Helper()
	if !meta.IsStatusConditionTrue(experiment.Status.Conditions, v1alpha1.ConditionSingleFactor) {
		t.Errorf("the sample is confounded: %+v", experiment.Status.Conditions)
	}
}

// runSample applies one of the local samples with its system. It returns the experiment and
// its runs when it is complete.
func runSample(t *testing.T, file string, changes ...func(*v1alpha1.PerfExperiment)) (*v1alpha1.PerfExperiment, []v1alpha1.PerfRun) {
	t.Helper()
	ctx, home := t.Context(), namespace(t)
	createAll(t, home, localSamples+"library.yaml")
	experiment := apply(t, home, localSamples+file, changes...)
	awaitComplete(ctx, t, experiment, 12*time.Minute)
	done := runs(ctx, t, home)
	for _, run := range done {
		if run.Status.Phase != v1alpha1.RunSucceeded {
			t.Errorf("run %s is %s: %s", run.Name, run.Status.Phase, run.Status.Message)
		}
		if run.Status.Effective == nil {
			t.Fatalf("run %s has no effective configuration", run.Name)
		}
	}
	return get(ctx, t, experiment), done
}

func createAll(t *testing.T, namespace, file string) {
	t.Helper()
	for _, object := range objects(t, file) {
		object.SetNamespace(namespace)
		create(t, object)
	}
}

// TestHeapSample checks that each arm has the heap that it declares.
func TestHeapSample(t *testing.T) {
	const mebibyte = 1 << 20
	_, done := runShortened(t, "maxram-vs-xmx.yaml")
	wants := map[string]map[string]int64{
		"xmx":       {"gateway": 96, "circulation": 96, "inventory-storage": 128, "data-import": 128},
		"maxram-50": {"gateway": 160, "circulation": 160, "inventory-storage": 192, "data-import": 192},
		"small":     {"gateway": 96, "circulation": 96, "inventory-storage": 32, "data-import": 32},
	}
	durations := map[string]float64{}
	for _, run := range done {
		durations[run.Spec.Arm] = observed(t, run, "create/duration")
		for _, module := range run.Status.Effective.Modules {
			want := wants[run.Spec.Arm][module.Name] * mebibyte
			if module.Heap == nil || module.Heap.Value() != want {
				t.Errorf("run %s: module %s has a heap of %v, want %d bytes", run.Name, module.Name, module.Heap, want)
			}
			if module.Collector != "Serial" || module.ImageID == "" || len(module.Nodes) != 1 || module.Restarts != 0 {
				t.Errorf("run %s: module %+v", run.Name, module)
			}
		}
	}
	// One block is not enough to separate an effect from noise.
	t.Logf("seconds per import: %v", durations)
}

// TestReadWriteSplitSample checks that replicas serve reads if the read-write split is on.
func TestReadWriteSplitSample(t *testing.T) {
	_, done := runShortened(t, "read-write-split.yaml")
	for _, run := range done {
		t.Logf("%s: an import took %v s", run.Spec.Arm, observed(t, run, "create/duration"))
	}
	if len(done) != 4 {
		t.Fatalf("%d runs, want 4", len(done))
	}
	for _, run := range done {
		postgres := run.Status.Effective.Postgres
		if postgres == nil || ptr.Deref(postgres.StreamingReplicas, 0) != 1 || ptr.Deref(postgres.SynchronousReplicas, 0) != 1 {
			t.Errorf("run %s: PostgreSQL %+v", run.Name, postgres)
			continue
		}
		if postgres.ReplicaReads == nil || *postgres.ReplicaReads == 0 {
			t.Errorf("run %s: nothing was read from the replica", run.Name)
		}
		for _, group := range run.Status.Effective.Topics {
			declared := int32(1)
			if group.Group == "data-import" && (run.Spec.Arm == "all-modules-two" || run.Spec.Arm == "all-but-two-two") {
				declared = 2
			}
			if group.Partitions != declared {
				t.Errorf("run %s: group %s has %d partitions, want %d", run.Name, group.Group, group.Partitions, declared)
			}
		}
	}
}

// TestPubSubSample checks that topics of mod-pubsub have the arm's partitions.
func TestPubSubSample(t *testing.T) {
	_, done := runShortened(t, "pubsub-partitions.yaml")
	for _, run := range done {
		for _, group := range run.Status.Effective.Topics {
			want := map[bool]int32{false: 1, true: 2}[group.Group == "pub-sub" && run.Spec.Arm == "two-partitions"]
			if group.Partitions != want || group.Topics == 0 {
				t.Errorf("run %s: group %+v, want %d partitions", run.Name, group, want)
			}
		}
		if mode := run.Status.Effective.KafkaMode; mode != string(v1alpha1.KafkaModeKRaft) {
			t.Errorf("run %s: Kafka's metadata mode is %q", run.Name, mode)
		}
	}
}

// TestPlacementSample checks that pods are rescheduled, and that the results have the cost
// of their nodes.
func TestPlacementSample(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	if !labelled(ctx, t, "node.kubernetes.io/instance-type", "local") {
		t.Skip("no node of this cluster has the instance type local, which the sample needs")
	}
	complete, done := runShortened(t, "placement.yaml")
	for _, run := range done {
		if cost := observed(t, run, "system/cost/perHour"); cost != 0.25 {
			t.Errorf("run %s costs %v an hour, want the price of one node", run.Name, cost)
		}
		for _, node := range run.Status.Effective.Nodes {
			if node.InstanceType != "local" || node.Pods < 6 {
				t.Errorf("run %s: node %+v", run.Name, node)
			}
		}
	}
	costs := 0
	for _, result := range complete.Status.Results {
		if result.Metric == "system/cost/perHour" && result.Unit == "USD/h" {
			costs++
		}
	}
	if costs != 3 {
		t.Errorf("%d arms have a cost, want 3", costs)
	}
}
