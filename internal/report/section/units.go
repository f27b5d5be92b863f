// SPDX-License-Identifier: Apache-2.0

package section

import (
	"math"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/digits"
)

func unitLabel(unit string) string {
	if unit == metric.UnitCount {
		return ""
	}
	return unit
}

// display is the format of numbers in a unit that is 10^shift times smaller, so that short times
// and little CPU need no leading zeros.
type display struct {
	unit   string
	factor float64
	shift  int
}

const (
	unitMillicores = "millicores"
	// fewCores is the limit below which cores are shown in thousandths.
	fewCores = 0.1
	// shortTime and tinyTime, in milliseconds, are the limits for smaller units.
	shortTime, tinyTime = 0.1, 0.001
)

func ownUnit(unit string) display { return display{unit, 1, 0} }

// newDisplay is the common format of numbers in a unit: in thousandths of a core if one of them
// is below a tenth, in microseconds or nanoseconds if none is longer.
func newDisplay(unit string, beside ...float64) display {
	smallest, largest := magnitudes(beside)
	switch {
	case largest == 0:
	case unit == metric.UnitCores && smallest < fewCores:
		return display{unitMillicores, 1e3, 3}
	case unit == metric.UnitMilliseconds && largest < tinyTime:
		return display{"ns", 1e6, 6}
	case unit == metric.UnitMilliseconds && largest < shortTime:
		return display{"µs", 1e3, 3}
	}
	return ownUnit(unit)
}

// magnitudes returns the smallest and the largest nonzero magnitude; 0 without any.
func magnitudes(numbers []float64) (smallest, largest float64) {
	for _, number := range numbers {
		size := math.Abs(number)
		if size == 0 || math.IsNaN(size) {
			continue
		}
		if largest == 0 {
			smallest = size
		}
		smallest, largest = math.Min(smallest, size), math.Max(largest, size)
	}
	return smallest, largest
}

// places converts a number of decimal places from the original unit.
func (d display) places(own int) int { return max(own-d.shift, 0) }

// text formats a number in the original unit.
func (d display) text(value float64, places int) string {
	return digits.Fixed(value*d.factor, d.places(places))
}

// round rounds a number as text does, in the unit of the display.
func (d display) round(value float64, places int) float64 {
	return digits.Round(value*d.factor, d.places(places))
}

// percent formats a declared share.
func percent(value float64) string { return withUnit(digits.Exact(value), metric.UnitPercent) }

// withUnit appends the unit to a number.
func withUnit(text, unit string) string {
	if text == digits.Dash || !isNamed(unit) {
		return text
	}
	return text + digits.Space + unit
}

// isNamed reports whether texts name the unit; numbers of things have none.
func isNamed(unit string) bool { return unit != "" && unit != metric.UnitCount }

// inUnit names the unit in a sentence: ", in ms".
func inUnit(unit string) string {
	if !isNamed(unit) {
		return ""
	}
	return ", in " + unit
}

// titleWithUnit appends the unit to a column's title.
func titleWithUnit(title, unit string) string {
	if !isNamed(unit) {
		return title
	}
	return title + ", " + unit
}
