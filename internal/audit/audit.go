// SPDX-License-Identifier: Apache-2.0

// Package audit checks published deltas against the numbers printed next to
// them: whether each follows, and if not, what slipped. It is pure.
package audit

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Outcome is what the check of one delta found.
type Outcome string

const (
	// Follows says that the delta is what the numbers give.
	Follows Outcome = "follows"
	// Rounding says that it is, if the numbers were rounded before printing, or the
	// delta cut.
	Rounding Outcome = "rounding"
	// Sign says that the size is right, the sign is not.
	Sign Outcome = "sign"
	// Base says that it is percent of the other side.
	Base Outcome = "base"
	// SignAndBase says that both are wrong.
	SignAndBase Outcome = "sign and base"
	// Size says that no reading of the numbers gives it.
	Size Outcome = "size"
	// Unchecked says that the numbers it must come from are not there.
	Unchecked Outcome = "unchecked"
)

// Slip tells whether the delta does not follow.
func (o Outcome) Slip() bool {
	return o == Sign || o == Base || o == SignAndBase || o == Size
}

// Finding is one published delta with what it should be.
type Finding struct {
	// Delta is the row as printed.
	Delta   Row
	Outcome Outcome
	// Minuend less Subtrahend is the delta; percent are of the subtrahend.
	// Both are empty where the delta is unchecked.
	Minuend, Subtrahend Row
	// Expected is what the delta should be, in its unit; Off is what is
	// printed less that.
	Expected, Off float64
	// Note is a sentence on the slip.
	Note string
}

// place is what can be compared: one metric in one scenario of a report.
type place struct{ report, scenario, metric string }

// sheet is a table, in which numbers are printed alike.
type sheet struct {
	report, table, unit string
	delta               bool
}

// desk holds the rows while deltas are checked.
type desk struct {
	measured map[place][]Row
	decimals map[sheet]int
}

// Check checks every delta, in the order of the rows.
func Check(rows []Row) []Finding {
	at := desk{measured: map[place][]Row{}, decimals: map[sheet]int{}}
	groups := map[group][]Row{}
	var order []group
	for _, row := range rows {
		printed := sheetOf(row)
		at.decimals[printed] = max(at.decimals[printed], row.decimals)
		if !row.delta {
			for _, metric := range slices.Compact([]string{row.Metric, bare(row.Metric)}) {
				found := place{row.Report, row.Scenario, metric}
				at.measured[found] = append(at.measured[found], row)
			}
			continue
		}
		of := group{row.Report, row.Table, row.Configuration}
		if groups[of] == nil {
			order = append(order, of)
		}
		groups[of] = append(groups[of], row)
	}
	var findings []Finding
	for _, of := range order {
		findings = append(findings, at.checkGroup(groups[of])...)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(a.Delta.Line, b.Delta.Line) })
	return findings
}

func sheetOf(row Row) sheet { return sheet{row.Report, row.Table, row.Unit, row.delta} }

var aside = regexp.MustCompile(`\s*\([^)]*\)`)

// bare leaves out what is in parentheses: a metric may be told apart there
// only where tables stand side by side.
func bare(metric string) string { return aside.ReplaceAllString(metric, "") }

// candidates are the measured numbers that a delta can come from: those of its
// own table if it has two sides, else those of the report.
func (d *desk) candidates(delta Row) []Row {
	all := d.measured[place{delta.Report, delta.Scenario, delta.Metric}]
	if len(all) == 0 {
		all = d.measured[place{delta.Report, delta.Scenario, bare(delta.Metric)}]
	}
	var own []Row
	sides := map[string]bool{}
	for _, row := range all {
		if row.Table == delta.Table {
			own = append(own, row)
			sides[row.Configuration] = true
		}
	}
	if len(sides) > 1 {
		return own
	}
	return all
}

// check sets a delta against its two sides.
func (d *desk) check(delta, minuend, subtrahend Row) Finding {
	found := Finding{Delta: delta, Outcome: Unchecked, Minuend: minuend, Subtrahend: subtrahend}
	readings := d.readings(delta, minuend, subtrahend)
	if len(readings) == 0 {
		found.Note = fmt.Sprintf("%q can't be set against %q and %q", delta.Unit, minuend.Unit, subtrahend.Unit)
		return found
	}
	for i, reading := range readings {
		outcome, better := reading.judge(delta.Value), false
		// A delta of percentages may be points or percent: what fits counts.
		if i > 0 {
			better = rank(outcome) < rank(found.Outcome)
		}
		if i == 0 || better {
			found.Outcome, found.Expected, found.Off = outcome, reading.expected, delta.Value-reading.expected
		}
	}
	return found
}

// rank orders outcomes from what explains a delta best.
func rank(outcome Outcome) int {
	return slices.Index([]Outcome{Follows, Rounding, Sign, Base, SignAndBase, Size, Unchecked}, outcome)
}

// reading is one way to take a delta.
type reading struct {
	expected float64
	// swapped is percent of the other side; NaN where the delta is absolute.
	swapped float64
	// printed is half a unit of the delta's last digit; measured what the
	// rounding of the two sides can add.
	printed, measured float64
}

// units of time in seconds.
var seconds = map[string]float64{"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600}

const percent = "%"

func isPoints(unit string) bool {
	return slices.Contains([]string{"percentage points", "percentage point", "points", "pp", "p.p."}, unit)
}

func (d *desk) readings(delta, minuend, subtrahend Row) []reading {
	if minuend.Unit != subtrahend.Unit {
		return nil
	}
	half := math.Pow10(-d.decimals[sheetOf(delta)]) / 2
	halfA, halfB := math.Pow10(-d.decimals[sheetOf(minuend)])/2, math.Pow10(-d.decimals[sheetOf(subtrahend)])/2
	a, b := minuend.Value, subtrahend.Value
	absolute := func(factor float64) reading {
		return reading{expected: (a - b) * factor, swapped: math.NaN(), printed: half, measured: (halfA + halfB) * factor}
	}
	var readings []reading
	from, to := seconds[minuend.Unit], seconds[delta.Unit]
	switch {
	case delta.Unit == minuend.Unit, isPoints(delta.Unit) && strings.HasPrefix(minuend.Unit, percent):
		readings = append(readings, absolute(1))
	case from > 0 && to > 0:
		readings = append(readings, absolute(from/to))
	}
	if delta.Unit == percent && a != 0 && b != 0 {
		readings = append(readings, reading{
			expected: 100 * (a - b) / math.Abs(b), swapped: 100 * (a - b) / math.Abs(a),
			printed: half, measured: 100 * (halfA + math.Abs(a/b)*halfB) / math.Abs(b),
		})
	}
	return readings
}

func (r reading) judge(value float64) Outcome {
	switch {
	case near(value, r.expected, r.printed):
		return Follows
	case r.rounded(value, r.expected):
		return Rounding
	case r.rounded(value, -r.expected):
		return Sign
	case r.rounded(value, r.swapped):
		return Base
	case r.rounded(value, -r.swapped):
		return SignAndBase
	}
	return Size
}

// rounded allows for digits that were rounded or cut.
func (r reading) rounded(value, expected float64) bool {
	cut := math.Abs(value) <= math.Abs(expected) && math.Abs(expected)-math.Abs(value) < 2*r.printed && value*expected >= 0
	return cut || near(value, expected, r.printed+r.measured)
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*(1+1e-6)+1e-12
}
