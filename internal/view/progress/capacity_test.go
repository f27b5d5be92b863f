// SPDX-License-Identifier: Apache-2.0

package progress_test

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/view/progress"
)

// searching is a run that visited 10, 40 and 20 users, and found a capacity.
func searching(arm string, block int32, found v1alpha1.RunCapacity) v1alpha1.PerfRun {
	run := v1alpha1.PerfRun{}
	run.Spec.Arm, run.Spec.Block, run.Spec.Scenario.Name = arm, block, "desk"
	run.Status.Phase = v1alpha1.RunSucceeded
	found.Levels = []v1alpha1.CapacityLevel{{Level: 10, Held: true}, {Level: 40}, {Level: 20, Held: true}}
	run.Status.Capacity = &found
	return run
}

func TestSearchesShowLevelsAndCapacities(t *testing.T) {
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Spec.Scenarios = []v1alpha1.Scenario{
		{Name: "plain"},
		{
			Name: "desk", Loads: []v1alpha1.Load{{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 40}}},
			Capacity: &v1alpha1.Capacity{Min: 10},
		},
	}
	experiment.Status.Arms = []v1alpha1.ArmStatus{{Name: "full", Baseline: true}, {Name: "half"}, {Name: "none"}}
	invalid := searching("full", 2, v1alpha1.RunCapacity{Value: "1"})
	invalid.Status.Phase = v1alpha1.RunInvalid
	runs := []v1alpha1.PerfRun{
		searching("half", 1, v1alpha1.RunCapacity{Side: v1alpha1.CapacityAbove, Value: "49.21"}),
		searching("full", 2, v1alpha1.RunCapacity{Side: v1alpha1.CapacityBelow, Value: "8.2", Limiting: "cico/Check-In/p95", NonMonotone: true}),
		invalid,
		searching("full", 1, v1alpha1.RunCapacity{Side: v1alpha1.CapacityWithin, Value: "31", Limiting: "cico/Check-In/p95", Coarse: true}),
	}
	held, failed := []int32{10, 20}, []int32{40}
	expect.Equal(t, []progress.Search{{Scenario: "desk", Load: "cico", Unit: "users", Runs: []progress.SearchRun{
		{Arm: "full", Block: 1, Held: held, Failed: failed, Capacity: "31", Limit: "cico/Check-In/p95", Remark: "coarse search, not compared"},
		{Arm: "full", Block: 2, Held: held, Failed: failed, Capacity: "8.200", Limit: "cico/Check-In/p95", Remark: "no level passed; a level failed below one that passed"},
		{Arm: "half", Block: 1, Held: held, Failed: failed, Capacity: "49.21", Remark: "every level passed"},
	}}}, progress.Searches(experiment, runs))
}

func TestSearchesListTheNewestRuns(t *testing.T) {
	experiment := &v1alpha1.PerfExperiment{}
	experiment.Spec.Scenarios = []v1alpha1.Scenario{{Name: "desk", Loads: []v1alpha1.Load{{Name: "search", Script: &v1alpha1.Script{}}}, Capacity: &v1alpha1.Capacity{}}}
	experiment.Status.Arms = []v1alpha1.ArmStatus{{Name: "full"}}
	var runs []v1alpha1.PerfRun
	for block := range int32(9) {
		runs = append(runs, searching("full", block+1, v1alpha1.RunCapacity{Value: "30"}))
	}
	found := progress.Searches(experiment, runs)
	if len(found) != 1 || len(found[0].Runs) != 6 || found[0].Runs[0].Block != 4 || found[0].Omitted != 3 || found[0].Unit != "" {
		t.Errorf("%+v", found)
	}
}
