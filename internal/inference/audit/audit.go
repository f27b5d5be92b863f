// SPDX-License-Identifier: Apache-2.0

// Package audit checks published deltas against the numbers printed next to them: whether each
// follows and, if not, what went wrong. It is pure.
package audit

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/text/unit"
)

// Outcome is the result of checking one delta.
type Outcome string

const (
	// Follows means that the delta follows from the numbers.
	Follows Outcome = "follows"
	// Rounding means that it is within one unit of its last digit, and is right if the numbers were
	// rounded after the subtraction.
	Rounding Outcome = "rounding"
	// Adjusted means that the page marks the delta as one that does not follow.
	Adjusted Outcome = "adjusted"
	// Digit means that the last digit is wrong: the subtraction needs no rounding.
	Digit Outcome = "last digit"
	// Cut means that digits were cut off instead of rounded.
	Cut Outcome = "cut"
	// Coarse means that the numbers have too few digits for a check.
	Coarse Outcome = "too few digits"
	// Sign means that the size is right, the sign is not.
	Sign Outcome = "sign"
	// Base means that it is percent of the other side.
	Base Outcome = "base"
	// SignAndBase means that both are wrong.
	SignAndBase Outcome = "sign and base"
	// Size means that no interpretation of the numbers yields the delta.
	Size Outcome = "size"
	// Runs means that the runs yield another number.
	Runs Outcome = "runs"
	// Unchecked means that the operands are missing.
	Unchecked Outcome = "unchecked"
)

// IsError reports whether the delta does not follow.
func (o Outcome) IsError() bool {
	return !slices.Contains([]Outcome{Follows, Rounding, Adjusted, Unchecked}, o)
}

// Finding is one published delta with its expected value.
type Finding struct {
	// Delta is the row as printed.
	Delta   Row
	Outcome Outcome
	// Minuend less Subtrahend is the delta; percent are of the subtrahend. Both are empty if the
	// delta is unchecked.
	Minuend, Subtrahend Row
	// Expected is the right delta, in its unit; Off is the printed one less that.
	Expected, Off float64
	// Note is a sentence about the error.
	Note string
}

// metricKey identifies comparable numbers: one metric in one scenario of a report.
type metricKey struct{ report, scenario, metric string }

// tableKey identifies a table, whose numbers have the same format, except those with an exponent.
type tableKey struct {
	report, table, unit string
	delta, exponent     bool
}

// auditor holds the rows while it checks deltas.
type auditor struct {
	measured map[metricKey][]Row
	decimals map[tableKey]int
}

// Check checks every delta, in the order of the rows.
func Check(rows []Row) []Finding {
	at := auditor{measured: map[metricKey][]Row{}, decimals: map[tableKey]int{}}
	groups := map[rowGroup][]Row{}
	var order []rowGroup
	for _, row := range rows {
		printed := newTableKey(row)
		most, known := at.decimals[printed]
		if !known || row.decimals > most {
			at.decimals[printed] = row.decimals
		}
		if !row.delta {
			for _, metric := range row.names() {
				found := metricKey{row.Report, row.Scenario, metric}
				at.measured[found] = append(at.measured[found], row)
			}
			continue
		}
		of := rowGroup{row.Report, row.Table, row.Configuration}
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

func newTableKey(row Row) tableKey {
	return tableKey{row.Report, row.Table, row.Unit, row.delta, row.decimals < 0}
}

var aside = regexp.MustCompile(`\s*\([^)]*\)`)

// withoutParentheses removes text in parentheses: it may distinguish a metric only in adjacent
// tables.
func withoutParentheses(metric string) string { return aside.ReplaceAllString(metric, "") }

// names returns the names of a number; in PerfLab's own reports there is only one.
func (r Row) names() []string {
	if r.asPrinted {
		return []string{r.Metric}
	}
	return slices.Compact([]string{r.Metric, withoutParentheses(r.Metric)})
}

// candidates returns the measured numbers that a delta can result from: those of its own table if
// it has two operands, else those of the report.
func (d *auditor) candidates(delta Row) []Row {
	all := d.measured[metricKey{delta.Report, delta.Scenario, delta.Metric}]
	if len(all) == 0 {
		all = d.measured[metricKey{delta.Report, delta.Scenario, withoutParentheses(delta.Metric)}]
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

// check compares a delta with its two operands.
func (d *auditor) check(delta, minuend, subtrahend Row) Finding {
	found := Finding{Delta: delta, Outcome: Unchecked, Minuend: minuend, Subtrahend: subtrahend}
	if delta.adjusted {
		found.Outcome = Adjusted
		return found
	}
	readings := d.readings(delta, minuend, subtrahend)
	if len(readings) == 0 {
		found.Note = fmt.Sprintf("the unit %q can't be compared with %q and %q", delta.Unit, minuend.Unit, subtrahend.Unit)
		return found
	}
	for i, reading := range readings {
		outcome, better := reading.judge(delta.Value), false
		// A delta of percentages may be points or percent: the interpretation that fits counts.
		if i > 0 {
			better = rank(outcome) < rank(found.Outcome)
		}
		if i == 0 || better {
			found.Outcome, found.Expected, found.Off = outcome, reading.expected, delta.Value-reading.expected
		}
	}
	return found
}

// rank orders outcomes, the best explanation of a delta first.
func rank(outcome Outcome) int {
	return slices.Index([]Outcome{Follows, Rounding, Digit, Cut, Sign, Base, SignAndBase, Coarse, Size, Unchecked}, outcome)
}

// reading is one interpretation of a delta.
type reading struct {
	expected float64
	// swapped is percent of the other side; NaN if the delta is absolute.
	swapped float64
	// printed is half a unit of the delta's last digit; measured is the maximum rounding error of
	// the two sides.
	printed, measured float64
	// absolute is a difference, not percent.
	absolute bool
}

const percent = "%"

func isPoints(unit string) bool {
	return slices.Contains([]string{"percentage points", "percentage point", "points", "pp", "p.p."}, unit)
}

func (d *auditor) readings(delta, minuend, subtrahend Row) []reading {
	factor, alike := unit.Factor(subtrahend.Unit, minuend.Unit)
	if !alike {
		return nil
	}
	a, b := minuend.Value, subtrahend.Value*factor
	half, halfA, halfB := d.half(delta), d.half(minuend), d.half(subtrahend)*factor
	to, isAlike := unit.Factor(minuend.Unit, delta.Unit)
	if isPoints(delta.Unit) && strings.HasPrefix(unit.Canonical(minuend.Unit), percent) {
		to, isAlike = 1, true
	}
	var readings []reading
	if isAlike {
		readings = append(readings, reading{expected: (a - b) * to, swapped: math.NaN(), printed: half, measured: (halfA + halfB) * to, absolute: true})
	}
	if unit.Canonical(delta.Unit) == percent {
		readings = append(readings, percentReading(a, b, halfA, halfB, half))
	}
	return readings
}

// percentReading interprets a delta as percent. Relative to zero there is only zero itself,
// whatever the rounding.
func percentReading(a, b, halfA, halfB, half float64) reading {
	made := reading{expected: 100 * (a - b) / math.Abs(b), swapped: 100 * (a - b) / math.Abs(a), printed: half}
	switch {
	case a == 0 && b == 0:
		made.expected = 0
	case b != 0:
		made.measured = 100 * (halfA + math.Abs(a/b)*halfB) / math.Abs(b)
	}
	return made
}

// half a unit of a number's last digit.
func (d *auditor) half(row Row) float64 {
	decimals := row.decimals
	if !row.asPrinted {
		decimals = d.decimals[newTableKey(row)]
	}
	return math.Pow10(-decimals) / 2
}

func (r reading) judge(value float64) Outcome {
	switch {
	case near(value, r.expected, r.printed):
		return Follows
	case near(value, r.expected, r.printed+r.measured):
		return r.judgeImprecise(value)
	case r.matchesRounded(value, r.expected):
		return Cut
	case r.matchesRounded(value, -r.expected):
		return Sign
	case r.matchesRounded(value, r.swapped):
		return Base
	case r.matchesRounded(value, -r.swapped):
		return SignAndBase
	}
	return Size
}

// judgeImprecise classifies a delta that unrounded numbers may yield. The operands are as exact as
// printed, so a wrong last digit is an error.
func (r reading) judgeImprecise(value float64) Outcome {
	switch unit := 2 * r.printed; {
	case r.absolute && near(r.measured, 0, unit):
		return Digit
	case near(value, r.expected, unit):
		return Rounding
	}
	return Coarse
}

// matchesRounded allows for digits that were rounded or cut.
func (r reading) matchesRounded(value, expected float64) bool {
	cut := math.Abs(value) <= math.Abs(expected) && math.Abs(expected)-math.Abs(value) < 2*r.printed && value*expected >= 0
	return cut || near(value, expected, r.printed+r.measured)
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*(1+1e-6)+1e-12
}
