// SPDX-License-Identifier: Apache-2.0

package section

import "perflab.dev/perflab/internal/report/chart"

// mostAround is the maximum number of arms with extremes in one chart: those of more would hide
// each other.
const mostAround = 4

// leastAround is the minimum number of points of a line with extremes around it: between a few, a
// straight line would show what was not measured.
const leastAround = 6

// around returns the extremes of all runs of an arm at the points of one, and the number of those
// runs; nil if there are too few points, or no more than the points show.
func (s *scenario) around(subject string, of arm, points []chart.Point) ([]chart.Extent, int) {
	if len(points) < leastAround {
		return nil, 0
	}
	around := make([]chart.Extent, len(points))
	for i, at := range points {
		around[i] = at.Extent
	}
	runs := 0
	for _, run := range s.validRuns(of.Name) {
		trace := s.traces[run.Name]
		if trace == nil || len(trace.courses[subject]) == 0 {
			continue
		}
		runs++
		widen(around, points, trace.courses[subject])
	}
	for i, at := range points {
		if around[i] != (chart.Extent{Low: at.Value, High: at.Value}) {
			return around, runs
		}
	}
	return nil, runs
}

// widen widens the extremes at points by those of another run, each at the nearest point.
func widen(around []chart.Extent, points, other []chart.Point) {
	i := 0
	for _, at := range other {
		for i+1 < len(points) && at.Minutes > (points[i].Minutes+points[i+1].Minutes)/2 {
			i++
		}
		if at.Minutes <= points[len(points)-1].Minutes {
			around[i] = around[i].With(at.Extent)
		}
	}
}

// extremes is the range of all extents.
func extremes(all []chart.Extent) chart.Extent {
	result := all[0]
	for _, one := range all {
		result = result.With(one)
	}
	return result
}

// mostLines is the maximum number of arms in most charts over runs or time: more would hide each
// other, and make the page heavy.
const mostLines = 8
