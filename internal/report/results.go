// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
)

// resultParts are what there is to tell of a scenario, in order.
var resultParts = []underScenario{
	transactionTables, throughputTable, windowTable, requestTable, resultCharts, longevity,
}

// centerSentence says, once, what stands for an arm everywhere on the page.
const centerSentence = "Each run gives one value per metric; an arm's value is the geometric mean of its runs (the arithmetic mean for percentages and for metrics with zeros)."

// resultsOf describe what each arm did, per scenario.
func resultsOf(r *record) []block {
	blocks := []block{paragraph(fmt.Sprintf(
		"%s Response times are of successful transactions; samples are counted over all runs.", centerSentence))}
	for _, scenario := range r.scenarios {
		var own []block
		for _, part := range resultParts {
			own = append(own, part(r, scenario)...)
		}
		if len(own) == 0 && !hasBatches(scenario) {
			own = []block{paragraph("No valid run has given results yet.")}
		}
		blocks = slices.Concat(blocks, []block{heading("Scenario " + scenario.Name)}, own, r.notesUnder(scenario.Name))
	}
	matrix := titled("All scenarios side by side", slices.Concat(chartsAt(r, inMatrix, r.scenarios...), responseMatrix(r), durationMatrix(r)))
	return slices.Concat(blocks, batchTables(r), seriesTables(r), matrix)
}

// hasBatches: some batch of the scenario was measured.
func hasBatches(under *scenario) bool {
	return slices.ContainsFunc(under.Loads, func(load v1alpha1.Load) bool {
		return under.unit(metric.Name(load.Name, metric.Duration)) != ""
	})
}

func resultCharts(r *record, under *scenario) []block { return chartsAt(r, inResults, under) }

// transactionTables have a row per transaction and arm, a table per load.
func transactionTables(_ *record, under *scenario) []block {
	var blocks []block
	for _, load := range under.Loads {
		transactions := under.transactions(load.Name)
		in := under.timesOf(load.Name, transactions)
		result := &table{
			Caption: "Response times of " + load.Name,
			Columns: slices.Concat(words("Transaction", "Arm"), numbers("Runs", "Samples",
				headed("Average", in.unit), headed("75th percentile", in.unit), headed("95th percentile", in.unit), "Errors, %")),
		}
		for _, transaction := range transactions {
			result.Rows = append(result.Rows, transactionRows(under, in, load.Name, transaction)...)
		}
		blocks = append(blocks, result.blocks()...)
	}
	return blocks
}

// timesOf says how the response times of transactions are written beside each other.
func (s *scenario) timesOf(load string, transactions []string) display {
	var averages []*values
	for _, transaction := range transactions {
		averages = append(averages, s.of(metric.Name(load, transaction, metric.Average))...)
	}
	return displayAll(metric.UnitMilliseconds, averages)
}

func transactionRows(under *scenario, in display, load, transaction string) []row {
	var rows []row
	for i, arm := range under.arms {
		of := func(statistic string) *values {
			return under.at(metric.Name(load, transaction, statistic), arm.Name)
		}
		average, errors := of(metric.Average), of(metric.Errors)
		if average == nil && errors == nil {
			continue
		}
		rows = append(rows, row{First: i == 0, Cells: append([]cell{{Text: metric.Plain(transaction)}, ofArm(arm.Name)}, texts(
			whole(runsOf(errors, average)), samplesOf(of(metric.Samples), average),
			average.shownIn(in), of(metric.P75).shownIn(in), of(metric.P95).shownIn(in), errors.shown())...)})
	}
	return rows
}

// throughputTable has a row per load and arm; more is better.
func throughputTable(_ *record, under *scenario) []block {
	result := &table{
		Caption: "Throughput (higher is better)",
		Columns: slices.Concat(words("Load", "Arm"), numbers("Runs", "Requests, 1/s", "Iterations, 1/s")),
	}
	for _, load := range under.Loads {
		for i, arm := range under.arms {
			requests := under.at(metric.Name(load.Name, metric.RequestsPerSecond), arm.Name)
			iterations := under.at(metric.Name(load.Name, metric.IterationsPerSecond), arm.Name)
			if requests == nil && iterations == nil {
				continue
			}
			result.Rows = append(result.Rows, row{First: i == 0, Cells: append(
				[]cell{name(load.Name), ofArm(arm.Name)}, texts(whole(runsOf(requests, iterations)), requests.shown(), iterations.shown())...)})
		}
	}
	return result.blocks()
}

// runsOf is the largest number of runs that gave any of the values.
func runsOf(all ...*values) int {
	runs := 0
	for _, found := range all {
		if found != nil {
			runs = max(runs, len(found.numbers))
		}
	}
	return runs
}

// samplesOf all runs: as counted, or those behind a statistic.
func samplesOf(counted, behind *values) string {
	if counted != nil {
		return fixed(counted.sum(), 0)
	}
	if behind != nil && behind.samples > 0 {
		return whole(behind.samples)
	}
	return dash
}

// windowTable sets transactions alone against the same beside another load.
func windowTable(_ *record, under *scenario) []block {
	windows := windowsOf(under, metric.Metric.IsTransaction)
	if len(windows) == 0 {
		return nil
	}
	result := &table{Caption: "Average response times, by phase of the run", Columns: words("Transaction", "Arm")}
	for _, window := range windows {
		result.Columns = append(result.Columns, numbers(capital(metric.WindowPhrase(window))+", ms")...)
	}
	seen := ""
	for _, m := range under.metrics {
		if !m.IsTransaction() || m.Statistic != metric.Average || m.Window != windows[0] {
			continue
		}
		for _, arm := range under.arms {
			cells := []cell{{Text: metric.Plain(m.Transaction)}, ofArm(arm.Name)}
			for _, window := range windows {
				cells = append(cells, cell{Text: under.at(metric.In(metric.Name(m.Of, m.Transaction, m.Statistic), window), arm.Name).shown()})
			}
			result.Rows = append(result.Rows, row{First: seen != m.Transaction, Cells: cells})
			seen = m.Transaction
		}
	}
	return []block{{Table: result}}
}

// windowsOf the metrics that are wanted, in the order of time.
func windowsOf(under *scenario, wanted func(metric.Metric) bool) []string {
	var windows []string
	for _, m := range under.metrics {
		if wanted(m) && m.Window != "" && !slices.Contains(windows, m.Window) {
			windows = append(windows, m.Window)
		}
	}
	slices.SortStableFunc(windows, metric.CompareWindows)
	return windows
}
