// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/internal/text/digits"
)

// setCenterPlaces gives the centers of each metric, wherever they stand, the digits from
// which a reader gets the deltas that are printed.
func setCenterPlaces(all []*scenario, lists ...[]shownComparison) {
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
		own := under.allValues(at.metric)
		places := setPlaces(own, placesForDeltas(group, fewestPlaces(own)))
		for _, one := range group {
			one.ofCenters = places
		}
	}
}

// placesForDeltas are the fewest, from a number on, that carry every delta which
// can follow from its centers at all.
func placesForDeltas(group []*shownComparison, from int) int {
	for places := from; places < digits.MaxPlaces; places++ {
		if !slices.ContainsFunc(group, func(c *shownComparison) bool { return !c.isAdjusted() && !c.deltaFollows(places) }) {
			return places
		}
	}
	return digits.MaxPlaces
}
