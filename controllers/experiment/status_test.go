// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/queue"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/planning/schedule"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/objects"
)

// kstatus is how kubectl wait, Argo CD and Flux see an experiment.
func kstatus(conditions []metav1.Condition) string {
	switch {
	case meta.IsStatusConditionTrue(conditions, "Stalled"):
		return "Failed"
	case meta.IsStatusConditionTrue(conditions, "Reconciling"):
		return "InProgress"
	case meta.IsStatusConditionTrue(conditions, "Ready"):
		return "Current"
	default:
		return "Unknown"
	}
}

func TestStatusFollowsFromTheScope(t *testing.T) {
	active := *objects.Run(objects.Experiment("heap"), "heap-1", func(run *v1alpha1.PerfRun) {
		run.Status.Phase, run.Status.Message = v1alpha1.RunLoading, "cico: running 30s of 5m"
	})
	refusal := environment.NotReady(v1alpha1.ReasonRefused, "the cluster refuses PerfRun \"heap-2\": quota")
	for name, c := range map[string]struct {
		edit    func(*scope)
		phase   v1alpha1.ExperimentPhase
		waits   string
		reason  string
		kstatus string
	}{
		"new": {func(*scope) {}, v1alpha1.ExperimentPending, "", v1alpha1.ReasonProgressing, "InProgress"},
		"PerfSystem missing": {
			func(s *scope) {
				s.spec.isSystemMissing = true
				s.Experiment.Spec.SystemRef = &v1alpha1.SystemRef{Name: "library"}
			},
			v1alpha1.ExperimentPending, `waiting for PerfSystem "library": not found in the namespace`, v1alpha1.ReasonSystemMissing, "InProgress",
		},
		"invalid spec": {
			func(s *scope) {
				s.spec.faults = field.ErrorList{field.Invalid(field.NewPath("spec", "arms"), nil, "two baselines")}
			},
			v1alpha1.ExperimentStalled, "manual action required: spec.arms: two baselines", v1alpha1.ReasonInvalidSpec, "Failed",
		},
		"status refused": {
			func(s *scope) { s.unwritten = "the API server refuses the status" },
			v1alpha1.ExperimentStalled, "manual action required: the API server refuses the status", v1alpha1.ReasonStatusRefused, "Failed",
		},
		"queued": {
			func(s *scope) {
				s.place = queue.Place{Status: &v1alpha1.LaneStatus{Name: "all nodes", Position: 2, Behind: "lab/pool"}}
			},
			v1alpha1.ExperimentPending, "queued: second in the queue for all nodes, behind lab/pool", v1alpha1.ReasonProgressing, "InProgress",
		},
		"blocked": {
			func(s *scope) { s.blocker = "pool-1" },
			v1alpha1.ExperimentPending, "waiting for run pool-1 of another experiment", v1alpha1.ReasonProgressing, "InProgress",
		},
		"running": {
			func(s *scope) {
				s.Runs, s.decision = []v1alpha1.PerfRun{active}, schedule.Decision{Action: schedule.Wait, Active: active.Name}
				s.Experiment.Status.Current = currentRun(s)
			},
			v1alpha1.ExperimentRunning, "Loading: cico: running 30s of 5m", v1alpha1.ReasonProgressing, "InProgress",
		},
		"run refused": {
			func(s *scope) { s.Runs, s.refusal = []v1alpha1.PerfRun{active}, &refusal },
			v1alpha1.ExperimentRunning, refusal.Message, v1alpha1.ReasonRefused, "InProgress",
		},
		"suspended": {
			func(s *scope) { s.decision.Action = schedule.Hold },
			v1alpha1.ExperimentSuspended, "suspended until spec.suspend is false", v1alpha1.ReasonSuspended, "InProgress",
		},
		"attempts exhausted": {
			func(s *scope) {
				s.decision = schedule.Decision{Action: schedule.GiveUp, Attempt: 4}
				s.decision.Run.Block, s.decision.Run.Arm, s.decision.Run.Scenario = 2, "small", "cico"
			},
			v1alpha1.ExperimentStalled, "manual action required: block 2, arm small, scenario cico was invalid 3 times", v1alpha1.ReasonAttemptsExhausted, "Failed",
		},
		"complete": {
			func(s *scope) { s.decision.Action = schedule.Finish },
			v1alpha1.ExperimentComplete, "", v1alpha1.ReasonComplete, "Current",
		},
		"complete, environment being deleted": {
			func(s *scope) { s.decision.Action, s.teardown.isActive = schedule.Finish, true },
			v1alpha1.ExperimentComplete, "waiting for the environment to be deleted", v1alpha1.ReasonComplete, "Current",
		},
		"complete, deletion refused": {
			func(s *scope) { s.decision.Action, s.refusal = schedule.Finish, &refusal },
			v1alpha1.ExperimentComplete, refusal.Message, v1alpha1.ReasonRefused, "InProgress",
		},
		"deleted": {
			func(s *scope) {
				s.Experiment.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
				s.teardown = teardown{true, "KafkaTopic \"events\" has a finalizer"}
			},
			v1alpha1.ExperimentDeleting, "KafkaTopic \"events\" has a finalizer", v1alpha1.ReasonDeleting, "InProgress",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScope(objects.Experiment("heap"), time.Unix(1, 0))
			c.edit(s)
			reportExperiment(s)
			status := &s.Experiment.Status
			expect.Equal(t, c.phase, status.Phase, "phase")
			expect.Equal(t, c.waits, status.WaitingFor, "message")
			expect.Equal(t, c.kstatus, kstatus(status.Conditions), "kstatus")
			ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
			expect.Equal(t, c.reason, ready.Reason, "reason of Ready")
		})
	}
}

// Earlier operators, which had no artifacts, stored everything in warnings.
func TestWarningsOfEarlierOperatorsAreMigrated(t *testing.T) {
	s := newScope(objects.Experiment("heap"), time.Unix(1, 0))
	s.Experiment.Status.Warnings = []string{
		"spec.design.blocks: 3 blocks can't show a difference of 5 %",
		`left out: PerfRun "forged" names this experiment, but is not owned by it`,
		`the report in the cluster lacks what was in deleted raw results: 1 ConfigMap, the first of them "a"`,
		"the report in the cluster could not be written at the end (complete blocks: 2): too large",
		"the history in the cluster is not kept: refused",
	}
	reportExperiment(s)
	status := &s.Experiment.Status
	expect.Equal(t, []string{"spec.design.blocks: 3 blocks can't show a difference of 5 %"}, status.SpecWarnings, "about the spec")
	expect.Equal(t, []string{
		"spec.design.blocks: 3 blocks can't show a difference of 5 %",
		`the report in the cluster lacks what was in deleted raw results: 1 ConfigMap, the first of them "a"`,
	}, status.Warnings, "shown")
	again := status.DeepCopy()
	reportExperiment(s)
	expect.Equal(t, again, status, "the second time")
}
