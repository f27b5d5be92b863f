// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"

	"perflab.dev/perflab/internal/metric"
)

// display is how numbers of a unit are written: as they are, or CPU in thousandths of a core.
type display struct {
	unit   string
	factor float64
}

const (
	unitMillicores = "millicores"
	// fewCores are so few that they are told in thousandths.
	fewCores = 0.1
)

// displayOf numbers that stand beside each other in a unit: in thousandths of a core where
// one of them is below a tenth.
func displayOf(unit string, beside ...float64) display {
	for _, value := range beside {
		if unit == metric.UnitCores && value != 0 && math.Abs(value) < fewCores {
			return display{unitMillicores, 1000}
		}
	}
	return display{unit, 1}
}

// places of a number that has so many in its own unit.
func (d display) places(own int) int {
	if d.factor == 1 {
		return own
	}
	return max(own-3, 0)
}

// write a number of the own unit.
func (d display) write(value float64, places int) string {
	return fixed(value*d.factor, d.places(places))
}

// rounded is the number that write writes, in the unit of the display.
func (d display) rounded(value float64, places int) float64 {
	return rounded(value*d.factor, d.places(places))
}
