// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/importers/delimited"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/number"
	units "perflab.dev/perflab/internal/text/unit"
)

// TableTool is the name of the unknown tool of a table.
const TableTool = "another tool"

// TableColumns are the columns of a table, in any order. Those in tableMay are optional.
const TableColumns = "release,measured,block,arm,scenario,metric,unit,value"

var (
	tableMust = []string{"arm", "scenario", "metric", "unit", "value"}
	tableMay  = []string{"release", "measured", "block"}
)

// TableRecord is a run in a table, with its identity.
type TableRecord struct {
	Release string
	Run
}

// ReadTable reads a table of values, one row for each run and metric, in any order, of
// any number of releases. It fails with ErrFile, and with payload.ErrTooLarge.
func ReadTable(from Source) ([]TableRecord, error) {
	explain := explainFormat(&from, "table")
	placed, err := readTable(from)
	return placed, explain(err)
}

func readTable(from Source) ([]TableRecord, error) {
	reader := delimited.NewReader(from.Memory.CSV(from.In))
	reader.FieldsPerRecord = -1
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, refuse("the file is empty: the first line must list the columns %s", TableColumns)
	}
	if err != nil {
		return nil, csvFault(err)
	}
	columns, err := tableHeader(header)
	if err != nil {
		return nil, atLine(1, err)
	}
	table := &table{columns: columns, only: from}
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return table.record()
		}
		if err != nil {
			return nil, csvFault(err)
		}
		line, _ := reader.FieldPos(0)
		if err := table.add(fields, len(header)); err != nil {
			return nil, atLine(line, err)
		}
	}
}

func tableHeader(header []string) (map[string]int, error) {
	columns := map[string]int{}
	for i, name := range header {
		name = strings.ToLower(strings.TrimSpace(name))
		if !slices.Contains(tableMust, name) && !slices.Contains(tableMay, name) {
			return nil, refuse("unknown column %q: the columns are %s", shorten(name), TableColumns)
		}
		if _, twice := columns[name]; twice {
			return nil, refuse("the column %q occurs twice", name)
		}
		columns[name] = i
	}
	for _, name := range tableMust {
		if _, found := columns[name]; !found {
			return nil, refuse("the column %q is missing: the columns are %s", name, TableColumns)
		}
	}
	return columns, nil
}

// table is the parsed part of a table.
type table struct {
	columns map[string]int
	only    Source
	runs    []*TableRecord
}

func (t *table) add(fields []string, count int) error {
	if len(fields) != count {
		return refuse("%d fields, but the header has %d", len(fields), count)
	}
	at := func(column string) string {
		if i, found := t.columns[column]; found {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	block := int32(1)
	if text := at("block"); text != "" {
		number, err := strconv.ParseInt(text, 10, 32)
		if err != nil || number < 1 || number > 100 {
			return refuse("the block %q is not a whole number from 1 to 100", shorten(text))
		}
		block = int32(number)
	}
	one, err := tableObservation(at("metric"), at("unit"), at("value"))
	if err != nil {
		return err
	}
	if owner, rest := metric.CutOwner(one.Metric); !metric.Reserved(owner) && !t.only.wants(rest) {
		return nil
	}
	run, err := t.run(at("release"), at("arm"), at("scenario"), block)
	if err != nil {
		return err
	}
	if err := run.date(at("measured")); err != nil {
		return err
	}
	if slices.ContainsFunc(run.Measured.Observations, func(known v1alpha1.Observation) bool { return known.Metric == one.Metric }) {
		return refuse("block %d of arm %q under scenario %q has %s twice: give each of its runs a different block", block, shorten(run.Arm), shorten(run.Scenario), one.Metric)
	}
	run.Measured.Observations = append(run.Measured.Observations, one)
	return nil
}

// run finds the run of a row.
func (t *table) run(release, arm, scenario string, block int32) (*TableRecord, error) {
	if arm == "" || scenario == "" {
		return nil, refuse("the arm or the scenario is empty")
	}
	for _, known := range t.runs {
		if known.Release == release && known.Arm == arm && known.Scenario == scenario && known.Block == block {
			return known, nil
		}
	}
	made := &TableRecord{Release: release, Run: Run{Arm: arm, Scenario: scenario, Block: block, Measured: &Measured{}}}
	t.runs = append(t.runs, made)
	return made, nil
}

// date sets the date of the run, which is the same in each of its rows.
func (p *TableRecord) date(text string) error {
	if text == "" {
		return nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		found, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		switch {
		case found.Before(earliest) || found.After(latest):
			return refuse("the date %q is not between %d and %d", shorten(text), earliest.Year(), latest.Year())
		case !p.Measured.Start.IsZero() && !p.Measured.Start.Equal(found):
			return refuse("the run was measured at %q, but at another time in an earlier row", shorten(text))
		}
		p.Measured.Start = found
		return nil
	}
	return refuse("%q is not a date or a time with a time zone: write it like 2025-01-03 or 2025-01-03T08:00:00Z", shorten(text))
}

// tableObservation converts a load's metric to PerfLab's unit.
func tableObservation(name, unit, text string) (v1alpha1.Observation, error) {
	owner, rest := metric.CutOwner(name)
	if owner == "" || rest == "" || name != metricName(name, longestMetric) {
		return v1alpha1.Observation{}, refuse("%q is not a metric name: write LOAD/TRANSACTION/STATISTIC, for example cico/Check-In/average, or custom/NAME", shorten(name))
	}
	read, err := number.Parse(text)
	if err != nil {
		return v1alpha1.Observation{}, refuse("the value %v: omit the row of a missing value", err)
	}
	value := read.Value
	unit = units.Canonical(unit)
	if !metric.Reserved(owner) {
		if value, unit, err = inOurUnit(metric.Parse(name), value, unit); err != nil {
			return v1alpha1.Observation{}, err
		}
	}
	return v1alpha1.Observation{Metric: name, Value: decimal.Format(value), Unit: unit}, nil
}

// inOurUnit converts a load's value to PerfLab's unit.
func inOurUnit(of metric.Metric, value float64, unit string) (float64, string, error) {
	ours := metric.Unit(of.Statistic)
	if ours == "" {
		return 0, "", refuse("%q is not a statistic of a load: use %s, or custom/NAME for anything else", shorten(of.Statistic), strings.Join(tableStatistics(), ", "))
	}
	factor, alike := units.Factor(unit, ours)
	switch {
	case value < 0:
		return 0, "", refuse("%s is negative: %g", of.Name, value)
	case !alike:
		return 0, "", refuse("the unit of %s is %q, but must be %q", of.Name, shorten(unit), ours)
	}
	value *= factor
	if seconds, isTime := units.Factor(ours, metric.UnitSeconds); isTime && value*seconds > longestSample.Seconds() {
		return 0, "", refuse("%s is %g %s, longer than a week: check the unit", of.Name, value, ours)
	}
	return value, ours, nil
}

func tableStatistics() []string {
	return slices.Concat(metric.TransactionStatistics(), metric.Rates(), []string{metric.Duration, metric.RecordsPerSecond})
}

// record returns all runs, with the loads of their metrics.
func (t *table) record() ([]TableRecord, error) {
	if len(t.runs) == 0 {
		return nil, refuse("no row follows the header and matches --only")
	}
	made := make([]TableRecord, 0, len(t.runs))
	for _, run := range t.runs {
		for _, one := range run.Measured.Observations {
			if owner, _ := metric.CutOwner(one.Metric); !metric.Reserved(owner) && !slices.Contains(run.Loads, owner) {
				run.Loads = append(run.Loads, owner)
			}
		}
		if len(run.Loads) == 0 {
			// The load of server metrics is unknown.
			run.Loads = []string{run.Scenario}
		}
		run.Measured.Observations = sorted(run.Measured.Observations)
		made = append(made, *run)
	}
	return made, nil
}
