// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
)

// carryDeltas gives the centers of each metric, wherever they stand, the digits from
// which a reader gets the deltas that are printed.
func carryDeltas(all []*scenario, lists ...[]shownComparison) {
	type series struct{ scenario, metric string }
	groups := map[series][]*shownComparison{}
	for _, compared := range lists {
		for i := range compared {
			at := series{compared[i].Scenario, compared[i].Metric}
			groups[at] = append(groups[at], &compared[i])
		}
	}
	for at, group := range groups {
		under := all[slices.IndexFunc(all, func(one *scenario) bool { return one.Name == at.scenario })]
		own := under.of(at.metric)
		places := writeWith(own, carryingPlaces(group, fewestPlaces(own)))
		for _, one := range group {
			one.ofCenters = places
		}
	}
}

// carryingPlaces are the fewest, from a number on, that carry every delta which
// can follow from its centers at all.
func carryingPlaces(group []*shownComparison, from int) int {
	for places := from; places < mostPlaces; places++ {
		if !slices.ContainsFunc(group, func(c *shownComparison) bool { return !c.adjusted() && !c.carried(places) }) {
			return places
		}
	}
	return mostPlaces
}

// carried: the printed delta is what centers printed with so many places give,
// rounded. Where they give the very delta, which may lie half way between two that
// can be printed, more of them give nothing more.
func (c *shownComparison) carried(places int) bool {
	const epsilon = 1e-9
	told := c.from(rounded(c.BaselineCenter, places), rounded(c.ArmCenter, places))
	off := math.Abs(told - rounded(c.Delta, c.places))
	return math.IsNaN(c.Delta) || off <= math.Pow10(-c.places)/2*(1-epsilon) || math.Abs(told-c.Delta) <= epsilon*math.Abs(c.Delta)
}

// adjusted: the delta is not that of the centers, because some block lacks a run
// and the model allows for it.
func (c *shownComparison) adjusted() bool {
	const epsilon = 1e-6
	told := c.from(c.BaselineCenter, c.ArmCenter)
	size := math.Abs(c.Delta)
	if c.Scale == comparison.Difference {
		size += math.Abs(c.BaselineCenter)
	}
	return math.Abs(told-c.Delta) > epsilon*math.Max(size, epsilon)
}

// from two centers the delta that a reader gets.
func (c *shownComparison) from(baseline, arm float64) float64 {
	if c.Scale == comparison.Ratio {
		return 100 * (arm - baseline) / baseline
	}
	return arm - baseline
}
