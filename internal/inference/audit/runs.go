// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/importers/delimited"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/number"
)

// seriesKey is one metric of one arm under one scenario.
type seriesKey struct{ scenario, metric, arm string }

// RunTable has the values of runs in a report's CSV.
type RunTable struct {
	units  map[seriesKey]string
	values map[seriesKey]map[string]float64
	// cells are the arms and scenarios of a block.
	cells map[string]map[[2]string]bool
}

// ReadRuns reads a report's CSV: one row per run and metric.
func ReadRuns(in io.Reader) (*RunTable, error) {
	m := &RunTable{units: map[seriesKey]string{}, values: map[seriesKey]map[string]float64{}, cells: map[string]map[[2]string]bool{}}
	reader := delimited.NewReader(in)
	for first := true; ; first = false {
		fields, err := reader.Read()
		switch {
		case errors.Is(err, io.EOF):
			return m, nil
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrRows, err)
		case first && !comparison.IsHeader(fields):
			return nil, fmt.Errorf("%w: the header must be %s", ErrRows, comparison.Header)
		case first:
			continue
		}
		read, err := number.Parse(fields[5])
		if err != nil {
			line, _ := reader.FieldPos(5)
			return nil, fmt.Errorf("%w: line %d: the value %w", ErrRows, line, err)
		}
		m.add(fields[0], seriesKey{text(fields[2]), metric.Plain(text(fields[3])), text(fields[1])}, text(fields[4]), read.Value)
	}
}

// text returns a cell without the quote that protects it from spreadsheets.
func text(cell string) string { return strings.TrimPrefix(cell, "'") }

func (m *RunTable) add(block string, of seriesKey, unit string, value float64) {
	if m.values[of] == nil {
		m.values[of] = map[string]float64{}
	}
	if m.cells[block] == nil {
		m.cells[block] = map[[2]string]bool{}
	}
	m.units[of], m.values[of][block] = unit, value
	m.cells[block][[2]string{of.scenario, of.arm}] = true
}

// completeBlocks selects the blocks of a report: those with a run of every arm under every
// scenario, or all if no block is complete.
func (m *RunTable) completeBlocks() func(block string) bool {
	most, any := map[[2]string]bool{}, false
	for _, cells := range m.cells {
		for cell := range cells {
			most[cell] = true
		}
	}
	is := func(block string) bool { return len(m.cells[block]) == len(most) }
	for block := range m.cells {
		any = any || is(block)
	}
	return func(block string) bool { return !any || is(block) }
}

// CheckRuns checks the numbers next to the deltas of a report against the runs of its
// CSV: each must be the center of the arm's runs, rounded.
func CheckRuns(rows []Row, runs *RunTable) []Finding {
	complete := runs.completeBlocks()
	values := map[seriesKey][]float64{}
	scales := map[seriesKey]comparison.Scale{}
	for of, byBlock := range runs.values {
		for block, value := range byBlock {
			if complete(block) {
				values[of] = append(values[of], value)
			}
		}
		slices.Sort(values[of])
	}
	for of, own := range values {
		all := seriesKey{of.scenario, of.metric, ""}
		scale := comparison.ChooseScale(runs.units[of], own)
		if scales[all] != comparison.Difference {
			scales[all] = scale
		}
	}
	var findings []Finding
	for _, row := range rows {
		if row.delta || row.of == (seriesKey{}) {
			continue
		}
		center := math.NaN()
		if own := values[row.of]; len(own) > 0 {
			center = scales[seriesKey{row.of.scenario, row.of.metric, ""}].Center(own)
		}
		findings = append(findings, centerFinding(row, center))
	}
	return findings
}

func centerFinding(row Row, center float64) Finding {
	found := Finding{Delta: row, Outcome: Follows, Expected: center, Off: row.Value - center}
	found.Delta.Configuration = cmp.Or(row.of.arm, row.Configuration)
	switch {
	case math.IsNaN(center):
		found.Outcome, found.Note = Unchecked, "the runs do not have this value"
	case !near(row.Value, center, math.Pow10(-row.decimals)/2):
		found.Outcome, found.Note = Runs, "the runs have a different center"
	}
	return found
}
