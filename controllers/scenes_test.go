// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
)

// scene is an experiment with its surroundings. Together, the scenes make the operator write every
// kind of object that it may write.
type scene struct {
	// stage prepares the objects before the experiment, and the simulation.
	stage func(l *lab)
	edits []func(*v1alpha1.PerfExperiment)
	// invalidates are the injected faults after which a run is invalid and is repeated.
	invalidates []string
	// shared: the system is a PerfSystem.
	shared bool
	// once: the results without faults are computed once.
	once sync.Once
	want end
}

// scenes are those with injected faults.
var scenes = map[string]*scene{
	"a new environment": {
		stage: func(l *lab) {
			l.lanes = l.namespace
			l.failFirstRun()
		},
		edits: []func(*v1alpha1.PerfExperiment){oneArm, withPooler},
	},
	"a collector and restored data": {
		stage: func(l *lab) {
			withCollectors(l)
			l.create(script())
		},
		edits: []func(*v1alpha1.PerfExperiment){writesAll},
	},
	"adopted workloads": {
		stage: func(l *lab) {
			l.install(inventory, byHelm)
			l.install(strings.ReplaceAll(storage, "mod-inventory", "mod-storage"), byArgoCD)
		},
		edits: []func(*v1alpha1.PerfExperiment){borrowing("Deployment", placed()), borrowingAnother},
	},
	"topics in external brokers": {
		stage: func(l *lab) {
			l.outside.withoutStrimzi = true
			l.brokers.put("theirs", kafka.TopicState{Partitions: 1, Replicas: 1})
			l.create(mskSecrets()...)
			l.measureOutages()
		},
		edits: []func(*v1alpha1.PerfExperiment){oneArm, msk, inKueueQueue, withFault, withSwitchover}, shared: true,
		// The declared fault can only happen at its time.
		invalidates: []string{"each write refused once"},
	},
}

// withPooler adds PgBouncer to PostgreSQL.
func withPooler(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Postgres.Pooler = &v1alpha1.Pooler{}
}

// borrowingAnother also adopts the StatefulSet.
func borrowingAnother(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Modules = append(e.Spec.System.Modules, v1alpha1.Module{
		Name: "mod-storage", WorkloadRef: &v1alpha1.WorkloadRef{Kind: v1alpha1.WorkloadStatefulSet, Name: "mod-storage"},
	})
}

// failFirstRun makes k6 fail in the first run.
func (l *lab) failFirstRun() {
	l.outside.exit["cico"] = 107
	l.eachRound = func() {
		if slices.ContainsFunc(l.runs(), func(run v1alpha1.PerfRun) bool { return run.Status.Phase == v1alpha1.RunInvalid }) {
			delete(l.outside.exit, "cico")
		}
	}
}

// begin prepares the scene and creates the experiment.
func (s *scene) begin(l *lab) *invariants {
	l.t.Helper()
	l.create(login())
	s.stage(l)
	experiment := smallExperiment(l.t, s.edits...)
	if s.shared {
		l.create(shared(experiment))
	}
	l.play()
	watched := l.watch()
	l.create(experiment)
	return watched
}

// undisturbed is the expected result.
func (s *scene) undisturbed(t *testing.T) end {
	t.Helper()
	s.once.Do(func() {
		l := newLabAlone(t, complete)
		watched := s.begin(l)
		l.untilPhase("small", v1alpha1.ExperimentComplete)
		l.settle()
		l.verifyChain("small")
		s.want = l.outcome()
		watched.deleteExperiment()
	})
	return s.want
}

// end is the result of a scene.
type end struct {
	Phase          v1alpha1.ExperimentPhase
	Progress, Plan string
	Invalid        int32
	Runs, Topics   []string
	Results        []v1alpha1.Result
	// writes of the operator.
	writes []string
}

// unwritten ignores how the result was produced.
var unwritten = cmpopts.IgnoreUnexported(end{})

// outcome must be the same with every fault. The environment is being deleted by then.
func (l *lab) outcome() end {
	l.t.Helper()
	status := l.experiment("small").Status
	found := end{
		Phase: status.Phase, Progress: status.Progress, Plan: status.PlanHash, Invalid: status.Runs.Invalid,
		Results: slices.Clone(status.Results),
		writes:  slices.Clone(l.line.journal),
	}
	for _, run := range l.runs() {
		found.Runs = append(found.Runs, run.Name+" "+string(run.Status.Phase)+" "+run.Status.Message)
	}
	// The number of samples depends on the duration.
	found.Results = slices.DeleteFunc(found.Results, func(r v1alpha1.Result) bool { return !strings.HasSuffix(r.Metric, "/average") })
	return found
}
