// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
)

// practised is the result of one run per arm without statistics: a delta of at least the
// threshold counts as an effect.
type practised struct{ wrong, right share }

// onceEach runs the baseline, then each arm once, and reads the deltas. Drift counts as an
// effect.
func onceEach(of trial, thresholdPercent float64, experiments int, seed uint64) practised {
	var seen practised
	sigma := math.Sqrt(math.Log1p(of.cv * of.cv))
	for i := range experiments {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		var baseline float64
		for arm := range of.arms {
			slowed := math.Log1p(of.drift) * float64(arm) / float64(of.arms)
			// Arms share no block: each runs on a different day.
			logarithm := math.Log1p(of.effect(arm)) + slowed + sigma*(random.NormFloat64()+of.noise.draw(random))
			if arm == 0 {
				baseline = logarithm
				continue
			}
			delta, effect := 100*math.Expm1(logarithm-baseline), of.effect(arm)
			claimed := math.Abs(delta) >= thresholdPercent
			seen.wrong.add(claimed && (effect == 0 || (delta > 0) != (effect > 0)))
			seen.right.add(claimed && effect != 0 && (delta > 0) == (effect > 0))
		}
	}
	return seen
}
