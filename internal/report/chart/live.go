// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"strconv"
)

// Live is the data of a chart over time, for a page that draws the chart itself.
type Live struct {
	Unit  string     `json:"unit"`
	Lines []liveLine `json:"lines"`
	Bands []liveBand `json:"bands,omitempty"`
	Keys  []liveKey  `json:"keys,omitempty"`
	// Axis is the label of the time axis; PerMinute is the number of its units in a minute.
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
	// Arm is the arm's index in the report.
	Arm int `json:"arm"`
	// Block of the run that is shown.
	Block   int32     `json:"block"`
	Minutes []float64 `json:"minutes"`
	Values  []float64 `json:"values"`
	// Lows and Highs of all the arm's runs, at the same times; empty where they add nothing.
	Lows  []float64 `json:"lows,omitempty"`
	Highs []float64 `json:"highs,omitempty"`
	// Batches that ran during the run.
	Batches []liveBand `json:"batches,omitempty"`
	// Marks of the run in chronological order: notes, and containers that restarted. Their
	// numbers continue across all lines.
	Marks []liveBand `json:"marks,omitempty"`
}

type liveBand struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// NewLive is the data of the picture of these lines.
func NewLive(lines []Line, bands []Band, unit string) *Live {
	result := &Live{Unit: unit}
	for _, one := range lines {
		result.Lines = append(result.Lines, newLiveLine(one))
	}
	result.Bands = liveBands(bands)
	for _, one := range newKeys(lines) {
		result.Keys = append(result.Keys, liveKey{one.series.Index, one.sign, one.text})
	}
	axis := NewTimeAxis(lastMinute(lines))
	result.Axis, result.PerMinute = axis.Label, axis.per
	return result
}

func newLiveLine(of Line) liveLine {
	shown := liveLine{Arm: of.Series.Index, Block: of.Block, Batches: liveBands(of.Batches), Marks: liveBands(of.marksInOrder())}
	for i, at := range of.Points {
		if math.IsNaN(at.Value) || math.IsInf(at.Value, 0) {
			continue
		}
		shown.Minutes = append(shown.Minutes, screenDigits(at.Minutes))
		shown.Values = append(shown.Values, screenDigits(at.Value))
		if of.Around != nil {
			shown.Lows = append(shown.Lows, screenDigits(of.Around[i].Low))
			shown.Highs = append(shown.Highs, screenDigits(of.Around[i].High))
		}
	}
	return shown
}

func liveBands(bands []Band) []liveBand {
	var shown []liveBand
	for _, one := range bands {
		shown = append(shown, liveBand{one.Name, screenDigits(one.From), screenDigits(one.To)})
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
