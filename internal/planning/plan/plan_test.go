// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/testing/expect"
)

func spec(arms, scenarios int, blocks int32) *v1alpha1.PerfExperimentSpec {
	made := &v1alpha1.PerfExperimentSpec{Design: v1alpha1.Design{Blocks: blocks, Order: v1alpha1.OrderRandomized}}
	for i := range arms {
		made.Arms = append(made.Arms, v1alpha1.Arm{Name: fmt.Sprintf("arm-%d", i), Baseline: i == 0})
	}
	for i := range scenarios {
		made.Scenarios = append(made.Scenarios, v1alpha1.Scenario{Name: fmt.Sprintf("scenario-%d", i)})
	}
	return made
}

func TestFromPlansEveryArmUnderEveryScenarioOncePerBlock(t *testing.T) {
	for arms := 1; arms <= 4; arms++ {
		for scenarios := 1; scenarios <= 3; scenarios++ {
			planned := plan.From(spec(arms, scenarios, 5), v1alpha1.System{}, 7)
			seen := map[plan.Run]int{}
			for i, run := range planned.Runs {
				if run.Position != int32(i)+1 {
					t.Errorf("%d arms, %d scenarios: run %d has position %d", arms, scenarios, i, run.Position)
				}
				if wanted := int32(i/(arms*scenarios)) + 1; run.Block != wanted {
					t.Errorf("%d arms, %d scenarios: run %d is in block %d, want %d", arms, scenarios, i, run.Block, wanted)
				}
				run.Position = 0
				seen[run]++
			}
			if len(seen) != arms*scenarios*5 {
				t.Errorf("%d arms, %d scenarios, 5 blocks: %d different runs, want %d", arms, scenarios, len(seen), arms*scenarios*5)
			}
		}
	}
}

func TestFromIsStable(t *testing.T) {
	first := plan.From(spec(3, 2, 6), v1alpha1.System{}, 42)
	if diff := cmp.Diff(first, plan.From(spec(3, 2, 6), v1alpha1.System{}, 42)); diff != "" {
		t.Errorf("the same seed gave another plan (-first +second):\n%s", diff)
	}
	longer := plan.From(spec(3, 2, 9), v1alpha1.System{}, 42)
	if diff := cmp.Diff(first.Runs, longer.Runs[:len(first.Runs)]); diff != "" {
		t.Errorf("more blocks changed the earlier ones (-6 blocks +9 blocks):\n%s", diff)
	}
	if first.Hash != longer.Hash {
		t.Errorf("more blocks changed the hash: %q and %q", first.Hash, longer.Hash)
	}
}

func TestGrowAppendsWholeBlocks(t *testing.T) {
	grown := plan.From(spec(3, 2, 6), v1alpha1.System{}, 42)
	grown.Grow(spec(3, 2, 6), 9)
	if diff := cmp.Diff(plan.From(spec(3, 2, 9), v1alpha1.System{}, 42), grown); diff != "" {
		t.Errorf("6 blocks that grow to 9 (-9 blocks +grown):\n%s", diff)
	}
	grown.Grow(spec(3, 2, 6), 2)
	if grown.Blocks != 9 || len(grown.Runs) != 54 {
		t.Errorf("%d blocks with %d runs: nothing is taken away", grown.Blocks, len(grown.Runs))
	}
}

func TestFromPlansControlArm(t *testing.T) {
	calibrated := spec(2, 1, 1)
	calibrated.Design.Calibrate = true
	var got []string
	for _, run := range plan.From(calibrated, v1alpha1.System{}, 1).Runs {
		got = append(got, run.Arm)
	}
	slices.Sort(got)
	expect.Equal(t, []string{"arm-0", "arm-0-twin", "arm-1"}, got, "runs of a block")
}

func TestFromDependsOnTheSeed(t *testing.T) {
	orders := map[string]bool{}
	for seed := range int64(20) {
		orders[fmt.Sprint(plan.From(spec(3, 2, 1), v1alpha1.System{}, seed).Runs)] = true
	}
	if len(orders) < 15 {
		t.Errorf("20 seeds gave %d different orders of 6 runs, want at least 15", len(orders))
	}
}

func TestFromShufflesBlocksIndependently(t *testing.T) {
	first := map[string]int{}
	for _, run := range plan.From(spec(2, 1, 1000), v1alpha1.System{}, 1).Runs {
		if run.Position%2 == 1 {
			first[run.Arm]++
		}
	}
	// 1,000 fair coins: 420 to 580 is more than five standard deviations.
	if n := first["arm-0"]; n < 420 || n > 580 {
		t.Errorf("arm-0 came first in %d of 1000 blocks of two", n)
	}
}

func TestFromFixedOrder(t *testing.T) {
	fixed := spec(2, 2, 2)
	fixed.Design.Order = v1alpha1.OrderFixed
	var got []string
	for _, run := range plan.From(fixed, v1alpha1.System{}, 9).Runs {
		got = append(got, run.Arm+"/"+run.Scenario)
	}
	block := []string{"arm-0/scenario-0", "arm-0/scenario-1", "arm-1/scenario-0", "arm-1/scenario-1"}
	expect.Equal(t, slices.Concat(block, block), got, "fixed order")
}

func TestHashChangesWithConditions(t *testing.T) {
	base := plan.From(spec(2, 1, 3), v1alpha1.System{}, 1).Hash
	cases := map[string]func(*v1alpha1.PerfExperimentSpec){
		"another arm":      func(s *v1alpha1.PerfExperimentSpec) { s.Arms[1].Name = "other" },
		"another scenario": func(s *v1alpha1.PerfExperimentSpec) { s.Scenarios[0].Name = "other" },
		"another system":   func(s *v1alpha1.PerfExperimentSpec) { s.System.Target.URL = "http://other" },
		"a twin":           func(s *v1alpha1.PerfExperimentSpec) { s.Design.Calibrate = true },
		"another question": func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.Primary = []string{"cico/Check-In/p95"} },
		"another margin":   func(s *v1alpha1.PerfExperimentSpec) { s.Analysis.MarginPercent = 3 },
		"a target":         func(s *v1alpha1.PerfExperimentSpec) { s.Design.Target = &v1alpha1.PrecisionTarget{HalfWidthPercent: 3} },
		"another reset":    func(s *v1alpha1.PerfExperimentSpec) { s.Reset = v1alpha1.ResetNone },
	}
	for name, change := range cases {
		changed := spec(2, 1, 3)
		change(changed)
		if plan.From(changed, changed.System, 1).Hash == base {
			t.Errorf("%s: the hash did not change", name)
		}
	}
	suspended := spec(2, 1, 3)
	suspended.Suspend = true
	suspended.Cleanup.Policy = v1alpha1.CleanupRetain
	if plan.From(suspended, v1alpha1.System{}, 1).Hash != base {
		t.Error("suspend or cleanup changed the hash")
	}
}

func TestSeed(t *testing.T) {
	experiment := &v1alpha1.PerfExperiment{}
	experiment.UID = "0c9ab7a2-8b0e-4b58-a1e0-1f0a6f7b6d7e"
	if seed := plan.Seed(experiment); seed != plan.Seed(experiment) || seed < 0 || seed >= 1<<28 {
		t.Errorf("seed from the uid is %d, want a stable one of 28 bits", seed)
	}
	own := int64(7)
	experiment.Spec.Design.Seed = &own
	if seed := plan.Seed(experiment); seed != 7 {
		t.Errorf("seed is %d, want the experiment's own 7", seed)
	}
}
