// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/internal/text/digits"
)

// setCenterPlaces gives the centers of each metric enough digits everywhere to compute the
// printed deltas.
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

// placesForDeltas is the fewest places, from a minimum, with which every delta follows from its
// printed centers, except for adjusted deltas.
func placesForDeltas(group []*shownComparison, from int) int {
	for places := from; places < digits.MaxPlaces; places++ {
		if !slices.ContainsFunc(group, func(c *shownComparison) bool { return !c.isAdjusted() && !c.deltaFollows(places) }) {
			return places
		}
	}
	return digits.MaxPlaces
}
