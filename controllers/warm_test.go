// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
)

// writes counts the operator's writes with this prefix.
func (l *lab) writes(beginning string) int {
	count := 0
	for _, written := range l.line.journal {
		if strings.HasPrefix(written, beginning+" ") {
			count++
		}
	}
	return count
}

// otherDatabase makes the second arm need its own PostgreSQL.
func otherDatabase(e *v1alpha1.PerfExperiment) {
	e.Spec.Arms[1].Set = &v1alpha1.SystemSet{Postgres: &v1alpha1.PostgresSet{Parameters: map[string]string{"work_mem": "8MB"}}}
	e.Spec.Design.Blocks = 3
}

// moduleDatabases collects the PostgreSQL addresses of each arm's module.
func (l *lab) moduleDatabases(found map[string]map[string]bool) {
	l.t.Helper()
	run := l.run()
	if run == nil || run.Status.Phase != v1alpha1.RunLoading {
		return
	}
	deployments := &appsv1.DeploymentList{}
	l.list(deployments)
	for _, variable := range deployments.Items[0].Spec.Template.Spec.Containers[0].Env {
		if variable.Name != "DB_HOST" {
			continue
		}
		if found[run.Spec.Arm] == nil {
			found[run.Spec.Arm] = map[string]bool{}
		}
		found[run.Spec.Arm][variable.Value] = true
	}
}

func TestKeepWarmBuildsOnce(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, otherDatabase, func(e *v1alpha1.PerfExperiment) {
		e.Spec.KeepWarm = true
		e.Spec.Arms[1].Set.Kafka = &v1alpha1.KafkaSet{Config: map[string]string{"num.io.threads": "2"}}
	}))
	reported := map[string]map[string]bool{}
	l.until("a complete experiment", func() bool {
		l.moduleDatabases(reported)
		if l.run() != nil && !l.run().Status.Phase.IsFinal() && l.writes("delete Cluster")+l.writes("delete Kafka") > 0 {
			t.Errorf("a Kafka or PostgreSQL was deleted while the experiment runs")
		}
		return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
	})
	kafkas, clusters := l.writes("apply Kafka"), l.writes("apply Cluster")
	if runs := len(l.runs()); kafkas != 2 || clusters != 2 || runs != 6 {
		t.Errorf("Kafka was written %d times and PostgreSQL %d times in %d runs, want once for each of 2 in 6", kafkas, clusters, runs)
	}
	if len(reported["as-is"]) != 1 || len(reported["slow"]) != 1 || reported["as-is"]["small-pg-rw"] {
		t.Errorf("the arms' modules use %v, want their own PostgreSQL each", reported)
	}
	for database := range reported["as-is"] {
		if reported["slow"][database] {
			t.Errorf("both arms use %s", database)
		}
	}
	l.until("the end of the environment", func() bool { return len(l.environment()) == 0 })
}

func TestWithoutKeepWarmReplaces(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, otherDatabase))
	most := 0
	l.until("a complete experiment", func() bool {
		most = max(most, len(l.foreign(contract.PostgresClusterKind)))
		return l.experiment("small").Status.Phase == v1alpha1.ExperimentComplete
	})
	if made := l.writes("apply Cluster"); made < 4 || most != 1 {
		t.Errorf("PostgreSQL was written %d times and %d were up at once, want one at a time, recreated with each change of arms", made, most)
	}
}

// Arms that differ in memory leave Kafka and PostgreSQL unchanged: no write after the first run has
// created them.
func TestHeapArmsKeepKafkaAndPostgres(t *testing.T) {
	l := newLab(t, complete)
	l.create(login(), smallExperiment(t, func(e *v1alpha1.PerfExperiment) {
		heap := func(size string) *v1alpha1.JVM {
			return &v1alpha1.JVM{Heap: &v1alpha1.Heap{Max: ptr.To(resource.MustParse(size))}}
		}
		e.Spec.Arms[0].Set = &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{{Name: "gateway", JVM: heap("256Mi")}}}
		e.Spec.Arms[1].Set = &v1alpha1.SystemSet{Modules: []v1alpha1.ModuleSet{{Name: "gateway", JVM: heap("512Mi")}}}
		e.Spec.Design.Blocks = 2
		e.Spec.Cleanup.Policy = v1alpha1.CleanupRetain
	}))
	l.eachRound = func() {
		// The JVM allots itself what the active run declares.
		for _, run := range l.runs() {
			if !run.Status.Phase.IsFinal() {
				heap := run.Spec.System.Modules[0].JVM.Heap.Max
				l.outside.moduleLog = fmt.Sprintf("[0.002s][info][gc,init] Heap Max Capacity: %dM\n", heap.Value()>>20)
			}
		}
	}
	l.untilPhase("small", v1alpha1.ExperimentComplete)
	var touched []string
	for _, written := range l.line.journal {
		kind := strings.Fields(written)[1]
		if slices.Contains([]string{"Kafka", "KafkaNodePool", "KafkaTopic", "Cluster", "Pooler"}, kind) || written == "apply ConfigMap small-pg-queries" {
			touched = append(touched, written)
		}
	}
	slices.Sort(touched)
	if once := slices.Compact(slices.Clone(touched)); len(once) != len(touched) || l.writes("delete Kafka")+l.writes("delete Cluster") != 0 {
		t.Errorf("Kafka and PostgreSQL were written more than once:\n%s", strings.Join(touched, "\n"))
	}
	if rolled := l.writes("apply Deployment"); rolled != len(l.runs()) {
		t.Errorf("the module was written %d times in %d runs, want once in each", rolled, len(l.runs()))
	}
}

func TestRecreateRebuildsEverything(t *testing.T) {
	for name, warm := range map[string]bool{"cold": false, "warm": true} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			l.create(login(), smallExperiment(t, oneArm, func(e *v1alpha1.PerfExperiment) {
				e.Spec.Reset, e.Spec.KeepWarm = v1alpha1.ResetRecreate, warm
				e.Spec.Design.Blocks = 2
			}))
			most := 0
			l.eachRound = func() { most = max(most, len(l.foreign(contract.PostgresClusterKind))) }
			if kafkas, clusters, pods := l.uids(); len(kafkas) != 2 || len(clusters) != 2 || len(pods) != 2 {
				t.Errorf("%d Kafkas, %d PostgreSQL clusters and %d pods of the module in 2 runs, want one each per run", len(kafkas), len(clusters), len(pods))
			}
			if most != 1 {
				t.Errorf("%d PostgreSQL clusters were up at once, want one: none would be used again", most)
			}
		})
	}
}
