// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
)

// use is a server's use of a resource, by arm.
type use struct {
	of           string
	average, max map[string]*values
	// ofRequest is the use in percent of the pods' requests.
	ofRequest map[string]*values
	unit      string
	// in is the format of average and maximum.
	in display
}

// setDisplays sets the formats of uses: per row if their units differ, or a common one.
func setDisplays(uses []use) {
	var together []*values
	for i := range uses {
		own := slices.Collect(maps.Values(uses[i].average))
		together = append(together, own...)
		uses[i].in = commonDisplay(uses[i].unit, own)
	}
	if sameUnit(uses) {
		for i := range uses {
			uses[i].in = commonDisplay(uses[i].unit, together)
		}
	}
}

// largest is the largest mean of any arm.
func (u use) largest() float64 {
	largest := math.Inf(-1)
	for _, found := range u.average {
		if found != nil {
			largest = math.Max(largest, found.center())
		}
	}
	return largest
}

// moduleUses of a resource, the largest first.
func moduleUses(under *scenario, resource string) []use {
	uses := usesUnder(under, func(m metric.Metric) (string, bool) {
		return m.Of, m.Component == metric.Module && m.Resource == resource
	})
	slices.SortStableFunc(uses, func(a, b use) int { return cmp.Compare(b.largest(), a.largest()) })
	return uses
}

// isZero reports whether all values in all runs are zero.
func (u use) isZero() bool {
	for _, byArm := range []map[string]*values{u.average, u.max} {
		for _, found := range byArm {
			if found != nil && slices.ContainsFunc(found.numbers, func(value float64) bool { return value != 0 }) {
				return false
			}
		}
	}
	return true
}

// usesUnder collects average and maximum of the metrics that name accepts.
func usesUnder(under *scenario, name func(metric.Metric) (string, bool)) []use {
	var all []use
	for _, m := range under.metrics {
		of, wanted := name(m)
		isUse := m.Statistic == metric.Average || m.Statistic == metric.Max || m.Statistic == metric.PercentOfRequest || m.Statistic == ""
		if !wanted || !isUse || m.Window != "" {
			continue
		}
		at := slices.IndexFunc(all, func(known use) bool { return known.of == of })
		if at < 0 {
			at = len(all)
			// The average comes before statistics with other units.
			all = append(all, use{of: of, unit: under.unit(m.Name), average: map[string]*values{}, max: map[string]*values{}, ofRequest: map[string]*values{}})
		}
		byArm := all[at].average
		switch m.Statistic {
		case metric.Max:
			byArm = all[at].max
		case metric.PercentOfRequest:
			byArm = all[at].ofRequest
		}
		for _, arm := range under.arms {
			byArm[arm.Name] = under.at(m.Name, arm.Name)
		}
	}
	return all
}

func sameUnit(uses []use) bool {
	return !slices.ContainsFunc(uses, func(one use) bool { return one.unit != uses[0].unit })
}
