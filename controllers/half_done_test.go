// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/kafka"
)

// This file is compiled here and among the tests of an earlier commit, so it uses only identifiers of
// that commit. The operator of one commit starts experiments in an API server, and the operator of the
// other finishes them (upgrade_test.go).

// left is the state of a namespace outside the API server.
type left struct {
	Namespace string
	Now       time.Time
	Topics    map[string]kafka.TopicState
}

func (l *lab) leave(folder, name string) {
	l.t.Helper()
	remembered := left{Namespace: l.namespace, Now: l.now, Topics: map[string]kafka.TopicState{}}
	for _, topic := range l.brokers.names() {
		remembered.Topics[topic], _ = l.brokers.get(topic)
	}
	encoded, err := json.Marshal(remembered)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), encoded, 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// untilBuilding waits until this many runs have succeeded and the next one has started.
func (l *lab) untilBuilding(runs int32) {
	l.t.Helper()
	l.until("half of the runs", func() bool {
		status := l.experiment("small").Status
		return status.Runs.Done == runs && l.run().Spec.Position == runs+1
	})
}

// untilLoading waits until the loads of the run at a position have started.
func (l *lab) untilLoading(position int32) {
	l.t.Helper()
	l.until("loads that are on", func() bool {
		run := l.run()
		if run == nil || run.Spec.Position != position || run.Status.Phase != v1alpha1.RunLoading {
			return false
		}
		testRuns := l.foreign(contract.TestRunKind)
		return len(testRuns) > 0 && contract.TestRun{Object: &testRuns[0]}.Stage() == contract.StageStarted
	})
}

func TestExperimentsAreLeftHalfDone(t *testing.T) {
	folder := os.Getenv("PERFLAB_HALF_DONE")
	if folder == "" {
		t.Skip("it belongs to the test of upgrades: make test-upgrade")
	}
	leaveHalfDone(t, folder)
}

// leaveHalfDone starts experiments, and writes the state outside the API server into a folder.
func leaveHalfDone(t *testing.T, folder string) {
	t.Helper()
	twoBlocks := func(e *v1alpha1.PerfExperiment) { e.Spec.Design.Blocks = 2 }
	for name, begin := range map[string]func(*lab){
		"Building": func(l *lab) {
			l.create(login(), smallExperiment(l.t, twoBlocks, func(e *v1alpha1.PerfExperiment) {
				e.Spec.System.Kafka.Controllers = &v1alpha1.KafkaNodes{Replicas: 1}
			}))
			l.untilBuilding(2)
		},
		"Loading": func(l *lab) {
			l.create(login(), smallExperiment(l.t, importUnderUsers, twoBlocks))
			l.outside.held["cico"] = true
			l.untilLoading(3)
		},
		"Warm": func(l *lab) {
			l.create(login(), smallExperiment(l.t, otherDatabase, func(e *v1alpha1.PerfExperiment) {
				e.Spec.KeepWarm = true
				e.Spec.Arms[1].Set.Kafka = &v1alpha1.KafkaSet{Config: map[string]string{"num.io.threads": "2"}}
			}))
			l.untilBuilding(3)
		},
		"Shared": func(l *lab) {
			made := smallExperiment(l.t, twoBlocks)
			system := shared(made)
			l.create(login(), system, made)
			l.untilBuilding(2)
			l.remove(system)
		},
		"Outside": func(l *lab) {
			l.create(login())
			l.create(mskSecrets()...)
			l.create(smallExperiment(l.t, twoBlocks, msk))
			l.untilBuilding(2)
		},
		"Borrowed": func(l *lab) {
			l.install(inventory, byHelm)
			l.create(login(), smallExperiment(l.t, twoBlocks, borrowing("Deployment", v1alpha1.Module{})))
			l.untilBuilding(2)
		},
		"Restoring": func(l *lab) {
			l.create(login(), script(), smallExperiment(l.t, restoring(bySQL)))
			l.until("data on its way back", func() bool {
				jobs := &batchv1.JobList{}
				l.list(jobs)
				return len(l.restored) == 2 && slices.ContainsFunc(jobs.Items, func(job batchv1.Job) bool {
					return strings.HasSuffix(job.Name, "-restore") && len(job.Status.Conditions) == 0
				})
			})
		},
		"Complete": func(l *lab) {
			l.create(login(), smallExperiment(l.t))
			l.untilPhase("small", v1alpha1.ExperimentComplete)
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, complete)
			begin(l)
			l.leave(folder, name)
		})
	}
}
