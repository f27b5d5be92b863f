//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// TestZooKeeper compares Kafka on KRaft with Kafka on ZooKeeper. It needs a cluster
// with Strimzi 0.45.
func TestZooKeeper(t *testing.T) {
	requireZooKeeper(t)
	ctx := t.Context()
	experiment := apply(t, namespace(t), localSamples+"kraft-vs-zookeeper.yaml", shorten,
		func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain })
	awaitComplete(ctx, t, experiment, 15*time.Minute)

	done := runs(ctx, t, experiment.Namespace)
	if len(done) != 2 {
		t.Fatalf("%d runs were done, want 2 arms x 1 block, and none of them twice", len(done))
	}
	for _, run := range done {
		t.Run(run.Spec.Arm, func(t *testing.T) { assertMode(t, run) })
	}
}

// requireZooKeeper skips a test if no Strimzi serves ZooKeeper.
func requireZooKeeper(t *testing.T) {
	t.Helper()
	_, err := cluster.RESTMapper().RESTMapping(schema.GroupKind{Group: "kafka.strimzi.io", Kind: "Kafka"}, "v1beta2")
	if meta.IsNoMatchError(err) {
		t.Skip("no Strimzi with ZooKeeper here: kafka.strimzi.io/v1beta2 is not served; " +
			"CLUSTER=zk STRIMZI=0.45.2 make e2e RUN=TestZooKeeper brings up a cluster that has it")
	}
	expect.NoError(t, err, "getting Strimzi's version")
}

func assertMode(t *testing.T, run v1alpha1.PerfRun) {
	if run.Status.Phase != v1alpha1.RunSucceeded {
		t.Fatalf("the run is %s: %s", run.Status.Phase, run.Status.Message)
	}
	want := map[string]string{"kraft": "KRaft", "zookeeper": "ZooKeeper"}[run.Spec.Arm]
	effective := run.Status.Effective
	if effective == nil || effective.KafkaMode != want || effective.KafkaVersion != "3.9.2" {
		t.Errorf("effective configuration %+v, want Kafka 3.9.2 on %s", effective, want)
	}
	if samples := observed(t, run, "cico/Check-In/samples"); samples < 3 {
		t.Errorf("only %v check-ins were measured", samples)
	}
	if records := observed(t, run, "create/records"); records != shortenedRecords {
		t.Errorf("%v records were imported through Kafka, want exactly %d", records, shortenedRecords)
	}
}

// TestLostControllerSample kills the active controller of each mode during an import, which
// nevertheless imports every record.
func TestLostControllerSample(t *testing.T) {
	requireZooKeeper(t)
	_, done := runSample(t, "lost-controller.yaml", func(e *v1alpha1.PerfExperiment) {
		e.Spec.Design.Blocks, e.Spec.Matrix.Factors, e.Spec.Analysis.Comparisons = 1, e.Spec.Matrix.Factors[:1], ""
	})
	if len(done) != 2 {
		t.Fatalf("%d runs were done, want 2 arms x 1 block", len(done))
	}
	for _, run := range done {
		records := float64(run.Spec.Scenario.Loads[0].DataImport.Records)
		if got := observed(t, run, "create/records"); got != records {
			t.Errorf("run %s: %v records were imported, want %v", run.Name, got, records)
		}
		fault := run.Status.Faults[0]
		if len(fault.Targets) != 1 || fault.Begin == nil || fault.Ready == nil {
			t.Errorf("run %s: fault %+v", run.Name, fault)
		}
		t.Logf("%s: %d restarts; imported in %.1f s", run.Spec.Arm, fault.Restarts, observed(t, run, "create/duration"))
	}
}
