// SPDX-License-Identifier: Apache-2.0

package levels_test

import (
	"math"
	"slices"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/levels"
)

func run(arm string, block int32, found *v1alpha1.RunCapacity) v1alpha1.PerfRun {
	most := int32(1000)
	made := v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{
		Arm: arm, Block: block, Position: 2 * block, Attempt: 1, Seed: 7 + int64(block),
		Scenario: v1alpha1.Scenario{
			Name: "searches", Loads: []v1alpha1.Load{{Name: "search", Script: &v1alpha1.Script{}}},
			Capacity: &v1alpha1.Capacity{Min: 10, Max: &most},
		},
	}}
	if made.Status.Capacity = found; found != nil {
		made.Status.Phase = v1alpha1.RunSucceeded
	}
	return made
}

func TestFirstRunSpansTheRange(t *testing.T) {
	first := run("baseline", 1, nil)
	got := levels.Next(&first.Spec, nil)
	if want := []int32{10, 25, 63, 158, 398, 1000}; !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
}

func TestLaterRunsSurroundTheCapacity(t *testing.T) {
	runs := []v1alpha1.PerfRun{
		run("baseline", 1, &v1alpha1.RunCapacity{Side: v1alpha1.CapacityWithin, Value: "200", Low: 158, High: 398, Coarse: true}),
		run("other", 1, &v1alpha1.RunCapacity{Side: v1alpha1.CapacityWithin, Value: "20", Low: 10, High: 25, Coarse: true}),
	}
	second := run("baseline", 2, nil)
	got := levels.Next(&second.Spec, runs)
	if got[0] >= 200 || got[len(got)-1] <= 200 || got[0] < 60 || got[len(got)-1] > 700 {
		t.Errorf("levels %v do not surround 200 closely", got)
	}
	if again := levels.Next(&second.Spec, runs); !slices.Equal(got, again) {
		t.Errorf("levels %v, then %v", got, again)
	}
	retry := second
	retry.Spec.Attempt = 2
	if other := levels.Next(&retry.Spec, runs); slices.Equal(got, other) {
		t.Errorf("the second attempt has the same levels %v", other)
	}
}

// A run whose levels miss the capacity moves the levels of later ones, once a run has found it.
func TestRunsOutsideTheirLevelsMoveTheNext(t *testing.T) {
	first := run("baseline", 1, &v1alpha1.RunCapacity{Side: v1alpha1.CapacityWithin, Value: "200", Low: 158, High: 398, Coarse: true})
	center := func(runs ...v1alpha1.PerfRun) float64 {
		next := run("baseline", 4, nil)
		got := levels.Next(&next.Spec, append(runs, first))
		return math.Sqrt(float64(got[0]) * float64(got[len(got)-1]))
	}
	usual := center()
	lower := center(run("baseline", 2, &v1alpha1.RunCapacity{Side: v1alpha1.CapacityBelow, Value: "130", High: 140}), run("baseline", 3, &v1alpha1.RunCapacity{Side: v1alpha1.CapacityBelow, Value: "120", High: 130}))
	higher := center(run("baseline", 2, &v1alpha1.RunCapacity{Side: v1alpha1.CapacityAbove, Value: "300", Low: 280}), run("baseline", 3, &v1alpha1.RunCapacity{Side: v1alpha1.CapacityAbove, Value: "320", Low: 310}))
	if lower >= usual || higher <= usual {
		t.Errorf("levels around %.0f, after runs below their levels around %.0f, after runs above them around %.0f", usual, lower, higher)
	}
}

func TestInvalidAndLaterRunsDoNotCount(t *testing.T) {
	found := &v1alpha1.RunCapacity{Side: v1alpha1.CapacityWithin, Value: "200", Low: 158, High: 398}
	invalid, later := run("baseline", 1, found), run("baseline", 3, found)
	invalid.Status.Phase = v1alpha1.RunInvalid
	second := run("baseline", 2, nil)
	if got := levels.Next(&second.Spec, []v1alpha1.PerfRun{invalid, later}); got[0] != 10 || got[5] != 1000 {
		t.Errorf("levels %v, want the whole range", got)
	}
}

func TestScenarioWithoutCapacityHasNoLevels(t *testing.T) {
	plain := run("baseline", 1, nil)
	plain.Spec.Scenario.Capacity = nil
	if got := levels.Next(&plain.Spec, nil); got != nil {
		t.Errorf("levels %v", got)
	}
}
