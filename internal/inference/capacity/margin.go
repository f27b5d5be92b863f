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

// Margin is the log margin of an objective: positive while it holds, 0 at the limit, negative
// when it fails. 0.1 is about 10 % of the limit.
//
// It lies within -1 and 1, a factor of 2.7 on both sides of the limit. How slow a saturated
// system gets depends on the length of the window rather than on its capacity, and how fast an
// idle one is has nothing to do with it: without a bound, both would move the boundary between
// the levels.
//
// If the limit or the value is not above 0, a ratio has no meaning, and the margin is 1 or -1.
// It is NaN if the value was not measured.
func Margin(value, limit float64, bound Bound) float64 {
	if math.IsNaN(value) || math.IsNaN(limit) {
		return math.NaN()
	}
	if bound == Min {
		return boundedLog(value, limit)
	}
	return boundedLog(limit, value)
}

// boundedLog is the logarithm of large over small, which is at least 0 if large is not below
// small.
func boundedLog(large, small float64) float64 {
	switch {
	case large > 0 && small > 0:
		return math.Max(-1, math.Min(1, math.Log(large/small)))
	case large >= small:
		return 1
	}
	return -1
}
