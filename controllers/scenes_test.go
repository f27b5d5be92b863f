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

// scene is an experiment and what it meets. Together the scenes have the operator
// write every kind of object that it may write.
type scene struct {
	// stage is what is there before the experiment, and how the outside behaves.
	stage func(l *lab)
	edits []func(*v1alpha1.PerfExperiment)
	// shared: the system is a PerfSystem.
	shared bool
	// once it was played as it should be, what came out is known.
	once sync.Once
	want end
}

// scenes are those that faults are put into.
var scenes = map[string]*scene{
	"an environment of its own": {
		stage: func(l *lab) {
			l.lanes = l.namespace
			l.failsFirst()
		},
		edits: []func(*v1alpha1.PerfExperiment){oneArm, withPooler},
	},
	"a collector and data that is brought back": {
		stage: func(l *lab) {
			withCollectors(l)
			l.create(script())
		},
		edits: []func(*v1alpha1.PerfExperiment){writesAll},
	},
	"borrowed workloads": {
		stage: func(l *lab) {
			l.install(inventory, byHelm)
			l.install(strings.ReplaceAll(storage, "mod-inventory", "mod-storage"), byArgoCD)
		},
		edits: []func(*v1alpha1.PerfExperiment){borrowing("Deployment", placed()), borrowingAnother},
	},
	"topics in somebody else's brokers": {
		stage: func(l *lab) {
			l.outside.withoutStrimzi = true
			l.brokers.put("theirs", kafka.TopicState{Partitions: 1, Replicas: 1})
			l.create(mskSecrets()...)
		},
		edits: []func(*v1alpha1.PerfExperiment){oneArm, msk, inKueuesQueue}, shared: true,
	},
}

// withPooler puts PgBouncer before PostgreSQL.
func withPooler(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Postgres.Pooler = &v1alpha1.Pooler{}
}

// borrowingAnother has the experiment borrow the StatefulSet as well.
func borrowingAnother(e *v1alpha1.PerfExperiment) {
	e.Spec.System.Modules = append(e.Spec.System.Modules, v1alpha1.Module{
		Name: "mod-storage", WorkloadRef: &v1alpha1.WorkloadRef{Kind: v1alpha1.WorkloadStatefulSet, Name: "mod-storage"},
	})
}

// failsFirst has k6 fail in the first run.
func (l *lab) failsFirst() {
	l.outside.exit["cico"] = 107
	l.eachRound = func() {
		if slices.ContainsFunc(l.runs(), func(run v1alpha1.PerfRun) bool { return run.Status.Phase == v1alpha1.RunInvalid }) {
			delete(l.outside.exit, "cico")
		}
	}
}

// begin sets the scene and makes the experiment.
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

// undisturbed is what is to come out.
func (s *scene) undisturbed(t *testing.T) end {
	t.Helper()
	s.once.Do(func() {
		l := newLabAlone(t, complete)
		watched := s.begin(l)
		l.untilPhase("small", v1alpha1.ExperimentComplete)
		l.settle()
		l.chainHolds("small")
		s.want = l.outcome()
		watched.deleteExperiment()
	})
	return s.want
}

// end is what came out of a scene.
type end struct {
	Phase          v1alpha1.ExperimentPhase
	Progress, Plan string
	Invalid        int32
	Runs, Topics   []string
	Results        []v1alpha1.Result
	// writes that it took.
	writes []string
}

// unwritten leaves out how it came about.
var unwritten = cmpopts.IgnoreUnexported(end{})

// outcome is what is to be the same whatever befell the operator. Its environment
// is on its way out by then.
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
	// How much was measured hangs on how long it took.
	found.Results = slices.DeleteFunc(found.Results, func(r v1alpha1.Result) bool { return !strings.HasSuffix(r.Metric, "/average") })
	return found
}
