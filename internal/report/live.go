// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"strconv"
)

// live is what a chart over time shows, for a page that draws it itself.
type live struct {
	Unit  string     `json:"unit"`
	Lines []liveLine `json:"lines"`
	Bands []liveBand `json:"bands,omitempty"`
	Keys  []liveKey  `json:"keys,omitempty"`
	// Axis is what the axis of time is called, and PerMinute how many of its units a
	// minute has.
	Axis      string  `json:"axis"`
	PerMinute float64 `json:"perMinute"`
}

// liveKey explains a sign of the chart.
type liveKey struct {
	Arm  int    `json:"arm"`
	Sign string `json:"sign"`
	Text string `json:"text"`
}

// liveLine is an arm's line: minutes since the load began, and values.
type liveLine struct {
	// Arm is its index among the report's.
	Arm int `json:"arm"`
	// Block of the run that is shown.
	Block   int32     `json:"block"`
	Minutes []float64 `json:"minutes"`
	Values  []float64 `json:"values"`
	// Lows and Highs of all the arm's runs, at the same times; none where they say nothing.
	Lows  []float64 `json:"lows,omitempty"`
	Highs []float64 `json:"highs,omitempty"`
	// Batches that were on in the run.
	Batches []liveBand `json:"batches,omitempty"`
	// Marks of the run, in the order of time: what people wrote, and containers that
	// restarted. They are numbered through all lines.
	Marks []liveBand `json:"marks,omitempty"`
}

type liveBand struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// liveOf is the same as the picture of these lines, in numbers.
func liveOf(lines []line, bands []band, unit string) *live {
	result := &live{Unit: shownUnit(unit)}
	for _, one := range lines {
		result.Lines = append(result.Lines, liveLineOf(one))
	}
	result.Bands = liveBands(bands)
	for _, one := range keysOf(lines) {
		result.Keys = append(result.Keys, liveKey{one.arm.index, one.sign, one.text})
	}
	axis := timeAxisOf(lastOf(lines))
	result.Axis, result.PerMinute = axis.label, axis.per
	return result
}

func liveLineOf(of line) liveLine {
	shown := liveLine{Arm: of.arm.index, Block: of.block, Batches: liveBands(of.batches), Marks: liveBands(of.inOrder())}
	for i, at := range of.points {
		if math.IsNaN(at.value) || math.IsInf(at.value, 0) {
			continue
		}
		shown.Minutes = append(shown.Minutes, screenDigits(at.minutes))
		shown.Values = append(shown.Values, screenDigits(at.value))
		if of.around != nil {
			shown.Lows = append(shown.Lows, screenDigits(of.around[i].low))
			shown.Highs = append(shown.Highs, screenDigits(of.around[i].high))
		}
	}
	return shown
}

func liveBands(bands []band) []liveBand {
	var shown []liveBand
	for _, one := range bands {
		shown = append(shown, liveBand{one.name, screenDigits(one.from), screenDigits(one.to)})
	}
	return shown
}

// screenDigits rounds to as many digits as a screen can show.
func screenDigits(value float64) float64 {
	const digits = 5
	text := strconv.FormatFloat(value, 'g', digits, 64)
	result, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return value
	}
	return result
}
