// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"time"

	"gonum.org/v1/plot"

	"perflab.dev/perflab/internal/text/digits"
)

// sinceLoad is the origin of most time axes.
const sinceLoad = "the load began"

// TimeAxis is an axis of the time since an event, in minutes.
type TimeAxis struct {
	Label, Unit string
	// per is the number of units in a minute.
	per    float64
	places int
}

// NewTimeAxis is the axis up to a minute, in seconds if that is early.
func NewTimeAxis(last float64) TimeAxis { return newTimeAxis(last, sinceLoad) }

func newTimeAxis(last float64, since string) TimeAxis {
	const short = 3
	if last < short {
		return TimeAxis{"Seconds since " + since, "s", time.Minute.Seconds(), 0}
	}
	return TimeAxis{"Minutes since " + since, "min", 1, 1}
}

// Format formats a time in minutes.
func (t TimeAxis) Format(minutes float64) string { return digits.Fixed(minutes*t.per, t.places) }

// Ticks at round numbers of the axis's unit.
func (t TimeAxis) Ticks(low, high float64) []plot.Tick {
	ticks := roundTicks{}.Ticks(low*t.per, high*t.per)
	for i := range ticks {
		ticks[i].Value /= t.per
	}
	return ticks
}
