// SPDX-License-Identifier: Apache-2.0

// Package comparison compares the arms of an experiment with its baseline, per
// scenario and metric: estimates, intervals, p-values and verdicts. It takes
// observations from anywhere, a running experiment or a file, and is pure.
package comparison

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The limits of a table. A larger one has a mistaken column.
const (
	maxArms   = 1000
	maxBlocks = 1000
)

var (
	errEmptyName  = errors.New("is empty")
	errNotFinite  = errors.New("is not a finite number")
	errUnits      = errors.New("has different units")
	errDuplicate  = errors.New("given twice")
	errTooMany    = errors.New("too many")
	errNoBaseline = errors.New("no such arm")
)

// Observation is the value of one metric in one run.
type Observation struct {
	Block, Arm, Scenario, Metric, Unit string
	Value                              float64
	// Line is the observation's line in a file, for messages; 0 without a file.
	Line int
}

// Table holds observations by scenario and metric.
type Table struct {
	arms, blocks names
	series       map[string]map[string]*series
}

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{arms: newNames(), blocks: newNames(), series: map[string]map[string]*series{}}
}

// names numbers names.
type names struct {
	number map[string]int
	list   []string
}

func newNames() names { return names{number: map[string]int{}} }

func (n *names) index(name string) int {
	number, known := n.number[name]
	if !known {
		// The name may be a part of a longer line, which it would keep in memory.
		name = strings.Clone(name)
		number = len(n.list)
		n.number[name] = number
		n.list = append(n.list, name)
	}
	return number
}

// sorted returns the numbers in the order of their names.
func (n *names) sorted() []int {
	order := make([]int, len(n.list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return compareNatural(n.list[a], n.list[b]) })
	return order
}

// series are the observations of one metric in one scenario.
type series struct {
	scenario, metric, unit string
	// line is that of the first observation, which determined the unit.
	line int
	// runs are by arm and block.
	runs [][]run
}

// run is one value. Its place is 0 if it is missing.
type run struct {
	value float64
	place int32
}

// Add adds one observation. It fails on an empty name, a value that is not finite, a unit other
// than the metric's earlier one, and on a second value for the same block, arm, scenario and
// metric.
func (t *Table) Add(o Observation) error {
	for _, part := range []struct{ what, name string }{{"block", o.Block}, {"arm", o.Arm}, {"scenario", o.Scenario}, {"metric", o.Metric}} {
		if part.name == "" {
			return fmt.Errorf("the %s %w", part.what, errEmptyName)
		}
	}
	if math.IsNaN(o.Value) || math.IsInf(o.Value, 0) {
		return fmt.Errorf("the value %v %w", o.Value, errNotFinite)
	}
	found := t.getSeries(o)
	if found.unit != o.Unit {
		return fmt.Errorf("metric %q of scenario %q %w: %q here, but %q before%s: use one unit per metric",
			o.Metric, o.Scenario, errUnits, o.Unit, found.unit, linePrefix(found.line))
	}
	arm, block := t.arms.index(o.Arm), t.blocks.index(o.Block)
	if arm >= maxArms || block >= maxBlocks {
		return fmt.Errorf("%w arms or blocks: at most %d arms and %d blocks are compared; check the order of the columns", errTooMany, maxArms, maxBlocks)
	}
	found.runs = grow(found.runs, arm+1)
	found.runs[arm] = grow(found.runs[arm], block+1)
	cell := &found.runs[arm][block]
	if cell.place != 0 {
		return fmt.Errorf("metric %q of scenario %q in block %q and arm %q is %w%s: a run has one value per metric",
			o.Metric, o.Scenario, o.Block, o.Arm, errDuplicate, duplicateLine(int(cell.place)-1))
	}
	*cell = run{value: o.Value, place: int32(o.Line) + 1}
	return nil
}

// linePrefix names a line, if there is one.
func linePrefix(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf(" on line %d", line)
}

func duplicateLine(line int) string {
	if line == 0 {
		return ""
	}
	return ", here and" + linePrefix(line)
}

func (t *Table) getSeries(o Observation) *series {
	metrics, known := t.series[o.Scenario]
	if !known {
		metrics = map[string]*series{}
		t.series[strings.Clone(o.Scenario)] = metrics
	}
	found, known := metrics[o.Metric]
	if !known {
		found = &series{scenario: strings.Clone(o.Scenario), metric: strings.Clone(o.Metric), unit: strings.Clone(o.Unit), line: o.Line}
		metrics[found.metric] = found
	}
	return found
}

// Arms returns the names of all arms, in order.
func (t *Table) Arms() []string {
	arms := slices.Clone(t.arms.list)
	slices.SortFunc(arms, compareNatural)
	return arms
}

// sorted returns the series by scenario and metric.
func (t *Table) sorted() []*series {
	var all []*series
	for _, metrics := range t.series {
		for _, found := range metrics {
			all = append(all, found)
		}
	}
	slices.SortFunc(all, func(a, b *series) int {
		if order := compareNatural(a.scenario, b.scenario); order != 0 {
			return order
		}
		return compareNatural(a.metric, b.metric)
	})
	return all
}

func isDigit(letter byte) bool { return letter >= '0' && letter <= '9' }

func grow[T any](list []T, length int) []T {
	if len(list) >= length {
		return list
	}
	return append(list, make([]T, length-len(list))...)
}

// compareNatural orders numbers in names by value: "arm-2" before "arm-10".
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if isDigit(x[0]) && isDigit(y[0]) {
			restX, restY := strings.TrimLeft(x, "0123456789"), strings.TrimLeft(y, "0123456789")
			digitsX, digitsY := strings.TrimLeft(x[:len(x)-len(restX)], "0"), strings.TrimLeft(y[:len(y)-len(restY)], "0")
			if order := len(digitsX) - len(digitsY); order != 0 {
				return order
			}
			if order := strings.Compare(digitsX, digitsY); order != 0 {
				return order
			}
			x, y = restX, restY
			continue
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	if order := len(x) - len(y); order != 0 {
		return order
	}
	return strings.Compare(a, b)
}
