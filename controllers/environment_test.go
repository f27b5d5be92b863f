// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
)

// uids are the UIDs of the experiment's Kafka, PostgreSQL and module during the runs.
func (l *lab) uids() (kafkas, clusters, pods map[types.UID]bool) {
	l.t.Helper()
	kafkas, clusters, pods = map[types.UID]bool{}, map[types.UID]bool{}, map[types.UID]bool{}
	l.until("a complete experiment", func() bool {
		for _, kafka := range l.foreign(contract.KafkaKind("v1")) {
			kafkas[kafka.GetUID()] = true
		}
		for _, cluster := range l.foreign(contract.PostgresClusterKind) {
			clusters[cluster.GetUID()] = true
		}
		for _, pod := range l.pods(naming.ComponentLabels("small", environment.ComponentModule)) {
			pods[pod.UID] = true
		}
		return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
	})
	return kafkas, clusters, pods
}

func TestOnlyChangedComponentsAreRebuilt(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Arms[1].Set = &v1alpha1.SystemSet{Kafka: &v1alpha1.KafkaSet{Config: map[string]string{"num.io.threads": "2"}}}
	}))
	kafkas, clusters, pods := l.uids()
	if len(kafkas) != 2 || len(clusters) != 1 || len(pods) != 2 {
		t.Errorf("%d Kafkas, %d PostgreSQL clusters and %d pods of the module, want a Kafka per arm, one PostgreSQL and a pod per run",
			len(kafkas), len(clusters), len(pods))
	}
}

func TestResetNoneKeepsModules(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Reset = v1alpha1.ResetNone
		e.Spec.Design.Blocks = 2
	}))
	if kafkas, clusters, pods := l.uids(); len(kafkas) != 1 || len(clusters) != 1 || len(pods) != 1 {
		t.Errorf("%d Kafkas, %d PostgreSQL clusters and %d pods of the module, want one of each", len(kafkas), len(clusters), len(pods))
	}
}

func TestRetainedEnvironmentStays(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) { e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain }))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	l.now = l.now.Add(24 * time.Hour)
	l.settle()
	deployments := &appsv1.DeploymentList{}
	if l.list(deployments); len(deployments.Items) != 1 || len(l.foreign(contract.KafkaKind("v1"))) != 1 {
		t.Errorf("left are %v, want Kafka and the module", l.environment())
	}
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	if left := l.environment(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestEnvironmentIsKeptForTTL(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.Cleanup.TTL = &metav1.Duration{Duration: 10 * time.Minute}
	}))
	completed := l.untilPhase("small", v1alpha1.ExperimentComplete).Status.CompletionTime.Time
	l.until("the end of the environment", func() bool { return len(l.environment()) == 0 })
	if lived := l.now.Sub(completed); lived < 10*time.Minute || lived > 12*time.Minute {
		t.Errorf("the environment was deleted %s after completion, want it soon after 10m", lived)
	}
}

func TestRecreatedExperimentRepeatsRuns(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	earlier := l.run().UID
	l.remove(l.experiment("small"))
	l.until("the end of the experiment", func() bool { return len(l.experiments()) == 0 })
	l.create(smallExperiment(t, oneArm))
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if runs := l.runs(); len(runs) != 1 || runs[0].UID == earlier {
		t.Errorf("%d runs, the first recreated: %t, want one that is", len(runs), runs[0].UID != earlier)
	}
}
