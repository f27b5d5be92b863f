// SPDX-License-Identifier: Apache-2.0

package capacity

import "math"

// Bound is the side on which an objective limits a value.
type Bound int

// A latency has a maximum, a throughput a minimum.
const (
	Max Bound = iota
	Min
)

// Margin is the relative distance of a value from the limit of its objective: limit / value - 1 for a
// maximum, value / limit - 1 for a minimum. It is at least 0 if the objective holds.
//
// It lies between -1, an infinite latency, and 1, half the limit. Latency grows so steeply near
// saturation that its reciprocal is almost a line there, and exactly one for a single server, whose
// boundary is thus found between distant levels. The speed of an idle system is unrelated to its
// capacity: without the upper bound, it would move the boundary.
//
// If the limit or the value is not above 0, a ratio has no meaning, and the margin is 1 or -1.
// It is NaN if the value was not measured.
func Margin(value, limit float64, bound Bound) float64 {
	if math.IsNaN(value) || math.IsNaN(limit) {
		return math.NaN()
	}
	if bound == Min {
		return excess(value, limit)
	}
	return excess(limit, value)
}

// excess of a value over another, as a share of the latter.
func excess(value, over float64) float64 {
	switch {
	case value > 0 && over > 0:
		return math.Min(1, value/over-1)
	case value >= over:
		return 1
	}
	return -1
}
