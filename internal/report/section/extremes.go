// SPDX-License-Identifier: Apache-2.0

package section

import "perflab.dev/perflab/internal/report/chart"

// mostAround is how many arms can have their extremes in one chart: those of more hide
// each other.
const mostAround = 4

// leastAround is how many points a line has that has extremes around it: between a few,
// a straight line would stand for what nobody has seen.
const leastAround = 6

// around are the extremes of all runs of an arm at the points of one, and how many runs
// that are; nil where they are the points themselves, or these are too few.
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

// widen the extremes at points by those of another run, each where it is nearest to.
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

// extremes of all.
func extremes(all []chart.Extent) chart.Extent {
	result := all[0]
	for _, one := range all {
		result = result.With(one)
	}
	return result
}

// mostLines is how many arms a chart shows run by run and over time beside what decides:
// more hide each other, and make the page heavy.
const mostLines = 8
