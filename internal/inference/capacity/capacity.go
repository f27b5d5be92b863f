// SPDX-License-Identifier: Apache-2.0

// Package capacity estimates the largest load at which a system holds its objectives, and chooses
// the loads to test. It is pure and has no notion of experiments: a run visits several levels of
// load, and yields one value, its capacity, which is compared like any other metric.
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
	// Margins of the objectives, in declared order. NaN: not measured, which proves nothing. An
	// objective that fails so badly that it has no value is -1.
	Margins []float64
}

// Side is where the boundary lies, relative to the levels of a run.
type Side string

// Sides. Below: no level held. Above: all did. Unknown: none was measured.
const (
	Unknown Side = ""
	Within  Side = "Within"
	Below   Side = "Below"
	Above   Side = "Above"
)

// Estimate is the capacity of one run.
type Estimate struct {
	// Load is the boundary. If it is Below or Above the levels, it is at most one step away
	// from them, on the assumption that another level there would have the other result. NaN
	// if it is Unknown.
	Load float64
	// Low is the highest level that held at or below Load, High the lowest that failed at or
	// above it; 0 and +Inf if there is none. Neighbors with margins far apart are a cliff.
	Low, High float64
	Side      Side
	// Limiting is the index of the objective that fails first; -1 if none does.
	Limiting int
	// NonMonotone: a level clearly failed, and a higher one clearly held.
	NonMonotone bool
	// Coarse: the levels are too far apart for more than a rough value.
	Coarse bool
}

const (
	// clearMargin is the margin from which a level clearly holds or fails.
	clearMargin = 0.1
	// coarseStep is the largest factor between levels of a precise run.
	coarseStep = 1.6
)

// FromRun estimates the capacity of a run from its levels, in any order.
//
// The margins of each objective are fitted over the logarithm of the load by isotonic
// regression (Barlow and others, Statistical Inference under Order Restrictions, 1972): more
// load never helps. The capacity is the load at which the first of the fits falls below 0.
func FromRun(levels []Level) Estimate {
	levels = measured(levels)
	if len(levels) == 0 {
		return Estimate{Load: math.NaN(), High: math.Inf(1), Limiting: -1}
	}
	first := Estimate{Load: math.Inf(1)}
	for objective := range levels[0].Margins {
		if load, side := boundary(levels, objective); load < first.Load {
			first.Load, first.Side, first.Limiting = load, side, objective
		}
	}
	if first.Side == Above {
		first.Limiting = -1
	}
	first.Low, first.High = bracket(levels, first.Load)
	first.NonMonotone = isNonMonotone(levels)
	first.Coarse = isCoarse(levels, first.Load)
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

// boundary of one objective; infinite if it was not measured.
func boundary(levels []Level, objective int) (load float64, side Side) {
	var x, y []float64
	for _, level := range levels {
		if margin := level.Margins[objective]; !math.IsNaN(margin) {
			x, y = append(x, math.Log(level.Load)), append(y, margin)
		}
	}
	if len(x) == 0 {
		return math.Inf(1), Above
	}
	fit, step := fitDecreasing(x, y), meanStep(x)
	switch failed := slices.IndexFunc(fit, func(p pool) bool { return p.y < 0 }); failed {
	case -1:
		return math.Exp(fit[len(fit)-1].root(pool{first: x[len(x)-1] + step, y: -1})), Above
	case 0:
		return math.Exp(pool{last: x[0] - step, y: 1}.root(fit[0])), Below
	default:
		return math.Exp(fit[failed-1].root(fit[failed])), Within
	}
}

// meanStep between ascending values; that of a single one is nominal.
func meanStep(x []float64) float64 {
	if len(x) == 1 {
		return math.Log(coarseStep)
	}
	return (x[len(x)-1] - x[0]) / float64(len(x)-1)
}

// bracket returns the nearest level at or below a load that held, and the nearest at or above
// that failed.
func bracket(levels []Level, load float64) (low, high float64) {
	for _, level := range levels {
		holds := level.smallest() >= 0
		switch {
		case holds && level.Load <= load:
			low = level.Load
		case !holds && level.Load >= load:
			return low, level.Load
		}
	}
	return low, math.Inf(1)
}

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

// isCoarse reports whether the levels on both sides of a load, or the nearest two, are far
// apart.
func isCoarse(levels []Level, load float64) bool {
	next := slices.IndexFunc(levels, func(l Level) bool { return l.Load > load })
	if next < 0 {
		next = len(levels) - 1
	}
	next = max(next, 1)
	return len(levels) < 2 || levels[next].Load > coarseStep*levels[next-1].Load
}

// mostOutside is the share of runs that may miss the boundary.
const mostOutside = 1.0 / 3

// Outside returns where the capacity of an arm is, relative to the levels of its runs: Below or
// Above if more than a third of the runs are, because their values would be those of the levels.
// The capacity is then at most the lowest level, or at least the highest.
func Outside(runs []Estimate) Side {
	count := map[Side]int{}
	for _, run := range runs {
		count[run.Side]++
	}
	outside := count[Below] + count[Above]
	switch measured := outside + count[Within]; {
	case measured == 0:
		return Unknown
	case float64(outside) <= mostOutside*float64(measured):
		return Within
	case count[Below] > count[Above]:
		return Below
	}
	return Above
}
