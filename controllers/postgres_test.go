// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
)

// split sends the module's reads to a replica.
func split(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Postgres.Instances = 2
	e.Spec.System.Postgres.ReadWriteSplit = &v1alpha1.ReadWriteSplit{Enabled: true, Synchronous: true}
}

// tell changes the metrics of an instance.
func (l *lab) tell(instance string, edit func(*contract.PostgresMetrics)) {
	l.t.Helper()
	for _, pod := range l.pods(map[string]string{contract.LabelPostgresRole: contract.PostgresRoleInstance}) {
		if pod.Name != instance {
			continue
		}
		address := "http://" + pod.Status.PodIP + ":9187/metrics"
		metrics, _ := l.databases.get(address)
		edit(&metrics)
		l.databases.put(address, metrics)
		return
	}
	l.t.Fatalf("instance %s is missing", instance)
}

func TestReplicaReadsAreVerified(t *testing.T) {
	cases := map[string]struct {
		edit func(*v1alpha1.PerfExperiment)
		// rows that the replica reads under load.
		rows  int64
		phase v1alpha1.RunPhase
		words []string
	}{
		"Read":     {edit: split, rows: 500, phase: v1alpha1.RunSucceeded},
		"NotRead":  {edit: split, phase: v1alpha1.RunInvalid, words: []string{"no module read from a replica", "gateway"}},
		"Unwanted": {edit: func(e *v1alpha1.PerfExperiment) { e.Spec.System.Postgres.Instances = 2 }, rows: 500, phase: v1alpha1.RunInvalid, words: []string{"replicas read 500 rows"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t, oneArm, tc.edit))
			l.untilRun(v1alpha1.RunLoading)
			l.tell("small-pg-2", func(m *contract.PostgresMetrics) { m.RowsRead = ptr.To(*m.RowsRead + tc.rows) })
			run := l.untilRun(tc.phase)
			if proof := run.Status.Effective.Postgres; proof == nil || proof.ReplicaReads == nil || *proof.ReplicaReads != tc.rows {
				t.Errorf("the proof is %+v, want %d rows read on the replica", proof, tc.rows)
			}
			if len(tc.words) > 0 {
				l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonEffectiveConfiguration, tc.words...)
				if len(run.Status.Observations) == 0 {
					t.Error("what was measured before is lost")
				}
			}
		})
	}
}

func TestLaggingReplicasAreReported(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, split))
	l.until("instances", func() bool {
		return len(l.pods(map[string]string{contract.LabelPostgresRole: contract.PostgresRoleInstance})) == 2
	})
	l.tell("small-pg-1", func(m *contract.PostgresMetrics) { m.StreamingReplicas = ptr.To[int32](0) })
	l.until("a wait with its cause", func() bool {
		return l.run().Status.Message == "PostgreSQL replication is not yet as declared: 0 replicas follow PostgreSQL's primary, but 1 is declared"
	})
	run := l.untilRun(v1alpha1.RunInvalid)
	l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonEffectiveConfiguration, "0 replicas follow")
	if run.Status.Timings.LoadStart != nil {
		t.Error("load was put on a system that is not the declared one")
	}
}

func TestLostReplicasInvalidateRun(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm, split))
	l.untilRun(v1alpha1.RunLoading)
	l.tell("small-pg-2", func(m *contract.PostgresMetrics) { m.RowsRead = ptr.To(*m.RowsRead + 500) })
	l.tell("small-pg-1", func(m *contract.PostgresMetrics) { m.StreamingReplicas = ptr.To[int32](0) })
	run := l.untilRun(v1alpha1.RunInvalid)
	l.expect(run.Status.Conditions, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonEffectiveConfiguration, "after the load, 0 replicas follow")
}

func TestUnreadableMetricsVerifyNothing(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, oneArm))
	l.until("an instance", func() bool {
		return len(l.pods(map[string]string{contract.LabelPostgresRole: contract.PostgresRoleInstance})) == 1
	})
	l.databases.forgets = true
	run := l.untilRun(v1alpha1.RunSucceeded)
	if proof := run.Status.Effective.Postgres; proof.Unproved == "" || proof.StreamingReplicas != nil || proof.ReplicaReads != nil {
		t.Errorf("the verification is %+v, want it to be absent with a reason", proof)
	}
}

func TestExternalDatabaseMustAnswer(t *testing.T) {
	l := newLab(t, complete)
	l.databases.closed.put("db.example.org:5433", true)
	l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
		e.Spec.System.Postgres = &v1alpha1.Postgres{
			Provider: v1alpha1.PostgresProviderExternal,
			External: &v1alpha1.ExternalPostgres{Host: "db.example.org", Port: 5433, Database: "folio", CredentialsSecret: v1alpha1.SecretName{Name: "rds"}},
		}
	}))
	l.until("a message about the server", func() bool {
		return l.run() != nil && l.run().Status.Message == "PostgreSQL at db.example.org:5433 does not answer: connection refused; check host and port in system.postgres.external, and that this cluster can connect to it"
	})
	l.expect(l.run().Status.Conditions, v1alpha1.ConditionPostgresReady, metav1.ConditionFalse, v1alpha1.ReasonUnreachable)
	l.databases.closed.put("db.example.org:5433", false)
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	if made := len(l.foreign(contract.PostgresClusterKind)) + l.writes("apply Cluster"); made != 0 {
		t.Error("a PostgreSQL was built in addition to the external one")
	}
}
