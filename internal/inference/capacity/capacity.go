// SPDX-License-Identifier: Apache-2.0

// Package capacity estimates the largest load at which a system holds its objectives, and
// chooses the loads that show it. It is pure and has no notion of experiments: a run visits
// several levels of load, and gives one value, its capacity, which is compared as any other
// metric.
package capacity

import (
	"cmp"
	"math"
	"slices"
)

// Level is the result of one level of a run.
type Level struct {
	// Load is the number of users or the rate; above 0.
	Load float64
	// Margins of the objectives, in the order in which they are declared. NaN: not measured.
	Margins []float64
}

// Side is where the boundary lies, relative to the levels of a run.
type Side string

// Sides. A run of Unknown has no measured level.
const (
	Unknown Side = ""
	Within  Side = "Within"
	Below   Side = "Below"
	Above   Side = "Above"
)

// Estimate is the capacity of one run.
type Estimate struct {
	// Load is the boundary. If it is Below or Above the levels, the nearest level; NaN if it is
	// Unknown.
	Load float64
	// Low is the highest level that held at or below Load, High the lowest that failed at or
	// above it. 0 and +Inf if there is none. A cliff is a wide bracket.
	Low, High float64
	Side      Side
	// Limiting is the index of the objective that fails first; -1 if none does.
	Limiting int
	// NonMonotone: a level clearly failed, and a higher one clearly held.
	NonMonotone bool
}

// FromRun estimates the capacity of a run from its levels, in any order.
//
// The margins of each objective are fitted over the logarithm of the load by centered isotonic
// regression (Oron and Flournoy, Statistics in Biopharmaceutical Research 2017), since more
// load never helps. The capacity is the load at which the first of the fits falls below 0.
func FromRun(levels []Level) Estimate {
	levels = measured(levels)
	if len(levels) == 0 {
		return Estimate{Load: math.NaN(), High: math.Inf(1), Limiting: -1}
	}
	first := Estimate{Side: Above, Load: levels[len(levels)-1].Load, Limiting: -1}
	for objective := range levels[0].Margins {
		load, side := boundary(levels, objective)
		if isBefore(side, load, first) {
			first.Load, first.Side, first.Limiting = load, side, objective
		}
	}
	first.Low, first.High = bracket(levels, first.Load)
	first.NonMonotone = isNonMonotone(levels)
	return first
}

// measured returns the levels with a margin, in ascending order.
func measured(levels []Level) []Level {
	isEmpty := func(l Level) bool { return !(l.Load > 0) || math.IsNaN(l.smallest()) }
	kept := slices.DeleteFunc(slices.Clone(levels), isEmpty)
	slices.SortStableFunc(kept, func(a, b Level) int { return cmp.Compare(a.Load, b.Load) })
	return kept
}

// smallest margin of those measured; NaN if none is.
func (l Level) smallest() float64 {
	smallest := math.NaN()
	for _, margin := range l.Margins {
		if !math.IsNaN(margin) && !(margin >= smallest) {
			smallest = margin
		}
	}
	return smallest
}

// boundary of one objective. An objective that was not measured never fails.
func boundary(levels []Level, objective int) (load float64, side Side) {
	var points []point
	for _, level := range levels {
		if margin := level.Margins[objective]; !math.IsNaN(margin) {
			points = append(points, point{x: math.Log(level.Load), y: margin, weight: 1})
		}
	}
	fit := fitDecreasing(points)
	failed := slices.IndexFunc(fit, func(p point) bool { return p.y < 0 })
	switch failed {
	case -1:
		return levels[len(levels)-1].Load, Above
	case 0:
		return levels[0].Load, Below
	}
	return math.Exp(root(fit[failed-1], fit[failed])), Within
}

// isBefore reports whether a boundary is reached before an estimate.
func isBefore(side Side, load float64, than Estimate) bool {
	order := map[Side]int{Below: 0, Within: 1, Above: 2}
	return cmp.Or(order[side]-order[than.Side], cmp.Compare(load, than.Load)) < 0
}

// bracket returns the nearest level at or below a load that held, and the nearest at or above
// that failed.
func bracket(levels []Level, load float64) (low, high float64) {
	high = math.Inf(1)
	for _, level := range levels {
		holds := level.smallest() >= 0
		switch {
		case holds && level.Load <= load:
			low = level.Load
		case !holds && level.Load >= load:
			return low, level.Load
		}
	}
	return low, high
}

// clearMargin is the margin from which a level clearly holds or fails.
const clearMargin = 0.1

func isNonMonotone(levels []Level) bool {
	failed := false
	for _, level := range levels {
		if failed && level.smallest() > clearMargin {
			return true
		}
		failed = failed || level.smallest() < -clearMargin
	}
	return false
}
