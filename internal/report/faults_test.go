// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
)

// lostPods is an experiment in which a lost pod costs 12 s with one replica, and 3 s with two.
func lostPods(blocks int32) report.Input {
	random := rand.New(rand.NewPCG(7, 1))
	input := report.Input{}
	made := &input.Experiment
	made.Name, made.Namespace = "lost-pod", "lab"
	made.Spec.Arms = []v1alpha1.Arm{{Name: "one", Baseline: true}, {Name: "two"}}
	made.Spec.Scenarios = []v1alpha1.Scenario{{
		Name:  "desk",
		Loads: []v1alpha1.Load{{Name: "cico", Duration: &metav1.Duration{Duration: 10 * time.Minute}, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}}},
		Faults: []v1alpha1.Fault{{
			Name: "storage-lost", After: metav1.Duration{Duration: 5 * time.Minute}, Observe: &metav1.Duration{Duration: 2 * time.Minute},
			Kill: &v1alpha1.KillFault{Module: "inventory-storage"},
		}},
	}}
	made.Spec.Design.Blocks = blocks
	made.Status.Phase = v1alpha1.ExperimentComplete
	made.Status.Runs = &v1alpha1.RunCounts{Planned: 2 * blocks, Done: 2 * blocks}
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for block := int32(1); block <= blocks; block++ {
		for i, arm := range made.Spec.Arms {
			run := v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{
				Experiment: made.Name, Arm: arm.Name, Block: block, Position: 2*(block-1) + int32(i) + 1, Attempt: 1, Seed: int64(block), Scenario: made.Spec.Scenarios[0],
			}}
			run.Name, run.Namespace = fmt.Sprintf("lost-pod-%d-%s", block, arm.Name), "lab"
			lost := []float64{12, 3}[i] * math.Exp(0.1*random.NormFloat64())
			begin := metav1.NewMicroTime(at.Add(5 * time.Minute))
			ready, end := metav1.NewMicroTime(begin.Add(15*time.Second)), metav1.NewMicroTime(begin.Add(2*time.Minute))
			run.Status = v1alpha1.PerfRunStatus{
				Phase:   v1alpha1.RunSucceeded,
				Timings: v1alpha1.RunTimings{LoadStart: &metav1.Time{Time: at}, LoadFinish: &metav1.Time{Time: at.Add(10 * time.Minute)}, Finish: &metav1.Time{Time: at.Add(11 * time.Minute)}},
				Faults:  []v1alpha1.RunFault{{Name: "storage-lost", Due: begin, Begin: &begin, Ready: &ready, End: &end, Candidates: int32(i + 1)}},
			}
			for statistic, value := range map[string]float64{"lostTime": lost, "excessErrors": 40 * lost, "excessTime": 0.5, "outageStart": 1, "recoveryTime": math.Ceil(lost)} {
				run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{
					Metric: "cico/" + statistic + "@fault-storage-lost", Value: decimal.Format(value), Unit: map[bool]string{true: "1", false: "s"}[statistic == "excessErrors"], Samples: 500,
				})
			}
			run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{
				Metric: "kafka/consumerLag/drainTime@fault-storage-lost", Value: "20", Unit: "s", Samples: 24,
			})
			at = at.Add(15 * time.Minute)
			input.Runs = append(input.Runs, run)
		}
	}
	return input
}

func TestFaultsAreReported(t *testing.T) {
	expect.Contains(t, markdownOf(t, lostPods(7)), []string{
		"two is better than one in excess errors of cico (after storage-lost)",
		"with one (11.038 to 12.685) and ", "with two (2.825 to 3.366) of its undisturbed work.",
		"| `storage-lost` | Kills 1 pod of module inventory-storage | 5m after the loads start | 2m |",
		"Cost of faults",
		"| `storage-lost` | `cico` | `one` | 7 |",
		"Phases after faults, in seconds since the start of the fault",
		"Lost time is how long the undisturbed load takes for the successful transactions that are missing after the fault.",
	}, "the page")
}

func TestObjectivesOfFaultsAreReported(t *testing.T) {
	input := lostPods(7)
	input.Experiment.Spec.Scenarios[0].Faults[0].Objective = &metav1.Duration{Duration: 500 * time.Millisecond}
	expect.Contains(t, markdownOf(t, input), []string{
		"of its undisturbed work within 500ms.",
		"Transactions that take longer than the objective (500ms for storage-lost) count as missing.",
	}, "the page")
}

// A component that does not become ready in some runs has no time in them, and the page counts
// those runs.
func TestUnreadyComponentsAreReported(t *testing.T) {
	input := lostPods(7)
	for i := range input.Runs {
		if input.Runs[i].Spec.Arm == "one" && input.Runs[i].Spec.Block < 3 {
			input.Runs[i].Status.Faults[0].Ready = nil
		}
	}
	if page := markdownOf(t, input); !strings.Contains(page, "15.0 (not in 2 runs)") && !strings.Contains(page, "15 (not in 2 runs)") {
		t.Error("the page does not say that pods were not ready in 2 runs")
	}
}
