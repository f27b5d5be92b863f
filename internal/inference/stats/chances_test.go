// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"math"
	"testing"

	"perflab.dev/perflab/internal/inference/stats"
)

// The chances of verdicts agree with the planning functions: that of Apart with the power if the
// margin does not matter, that of Equivalent at the margin with alpha.
func TestChances(t *testing.T) {
	for _, design := range []stats.Design{
		{Arms: 2, Blocks: 8, Deviation: 0.05, Alpha: 0.05},
		{Arms: 4, Blocks: 16, Deviation: 0.05, Alpha: 0.05, Family: 3},
	} {
		effect := design.Detectable(0.8)
		if got := design.Chances(effect, -1e-9, 1e-9); math.Abs(got.Apart-0.8) > 0.02 || got.Equivalent != 0 {
			t.Errorf("%+v: %+v of an effect that is found with 80 %%", design, got)
		}
		low, high := -3*design.Deviation, 3*design.Deviation
		if edge := design.Chances(high, low, high); math.Abs(edge.Equivalent-design.Alpha) > 0.012 {
			t.Errorf("%+v: %+v at the edge of a wide margin", design, edge)
		}
		if wrong := design.Chances(0, low, high); wrong.Equivalent < 0.99 {
			t.Errorf("%+v: %+v without an effect, in a wide margin", design, wrong)
		}
	}
	if none := (stats.Design{Arms: 2, Blocks: 1, Deviation: 0.05, Alpha: 0.05}).Chances(0, -1, 1); none != (stats.Chances{}) {
		t.Errorf("one block: %+v", none)
	}
}

// The smallest number of blocks that yields either verdict.
func TestBlocksForVerdicts(t *testing.T) {
	low, high := math.Log1p(-0.05), math.Log1p(0.05)
	design := stats.Design{Arms: 2, Deviation: 0.05, Alpha: 0.05}
	blocks, found := design.BlocksForVerdicts(low, high, 0.8)
	if !found {
		t.Fatal("no number does")
	}
	design.Blocks = blocks
	if !design.Answers(low, high, 0.8) {
		t.Errorf("%d blocks are too few", blocks)
	}
	if design.Blocks--; design.Answers(low, high, 0.8) {
		t.Errorf("%d blocks are enough, %d are asked for", design.Blocks, blocks)
	}
	if _, found := (stats.Design{Arms: 2, Deviation: 5, Alpha: 0.05}).BlocksForVerdicts(low, high, 0.8); found {
		t.Error("noise beyond all bounds takes a number of blocks")
	}
}
