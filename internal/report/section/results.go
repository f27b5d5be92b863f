// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// resultParts are the parts of a scenario's results, in order.
var resultParts = []underScenario{
	capacityTable, faultTable, scalabilityTable, transactionTables, throughputTable, windowTable, requestTable, resultCharts, longevity,
}

// centerSentence defines an arm's value for the whole page.
const centerSentence = "Each run gives one value per metric; an arm's value is the geometric mean of its runs (the arithmetic mean for percentages and for metrics with zeros)."

// resultBlocks describe the results of each arm, per scenario.
func resultBlocks(r *Record) []document.Block {
	blocks := []document.Block{document.Paragraph(fmt.Sprintf(
		"%s Response times are of successful transactions; samples are counted over all runs.", centerSentence))}
	for _, scenario := range r.scenarios {
		var own []document.Block
		for _, part := range resultParts {
			own = append(own, part(r, scenario)...)
		}
		if len(own) == 0 && !hasBatches(scenario) {
			own = []document.Block{document.Paragraph("No valid run has results yet.")}
		}
		blocks = slices.Concat(blocks, []document.Block{document.Heading("Scenario " + scenario.Name)}, own, r.notesUnder(scenario.Name))
	}
	matrix := document.Titled("All scenarios side by side", slices.Concat(chartsIn(r, inMatrix, r.scenarios...), responseMatrix(r), durationMatrix(r)))
	return slices.Concat(blocks, batchTables(r), seriesTables(r), matrix)
}

// hasBatches reports whether a batch of the scenario was measured.
func hasBatches(under *scenario) bool {
	return slices.ContainsFunc(under.Loads, func(load v1alpha1.Load) bool {
		return under.unit(metric.Name(load.Name, metric.Duration)) != ""
	})
}

func resultCharts(r *Record, under *scenario) []document.Block { return chartsIn(r, inResults, under) }

// transactionTables have a row per transaction and arm, a table per load.
func transactionTables(_ *Record, under *scenario) []document.Block {
	var blocks []document.Block
	for _, load := range under.Loads {
		transactions := under.transactions(load.Name)
		in := under.responseDisplay(load.Name, transactions)
		result := &document.Table{
			Caption: "Response times of " + load.Name,
			Columns: slices.Concat(document.TextColumns("Transaction", "Arm"), document.NumberColumns("Runs", "Samples",
				titleWithUnit("Average", in.unit), titleWithUnit("75th percentile", in.unit), titleWithUnit("95th percentile", in.unit), "Errors, %")),
		}
		for _, transaction := range transactions {
			result.Rows = append(result.Rows, transactionRows(under, in, load.Name, transaction)...)
		}
		blocks = append(blocks, result.Blocks()...)
	}
	return blocks
}

// responseDisplay is the common format of transactions' response times.
func (s *scenario) responseDisplay(load string, transactions []string) display {
	var averages []*values
	for _, transaction := range transactions {
		averages = append(averages, s.allValues(metric.Name(load, transaction, metric.Average))...)
	}
	return commonDisplay(metric.UnitMilliseconds, averages)
}

func transactionRows(under *scenario, in display, load, transaction string) []document.Row {
	var rows []document.Row
	for i, arm := range under.arms {
		of := func(statistic string) *values {
			return under.at(metric.Name(load, transaction, statistic), arm.Name)
		}
		average, errors := of(metric.Average), of(metric.Errors)
		if average == nil && errors == nil {
			continue
		}
		rows = append(rows, document.Row{First: i == 0, Cells: append([]document.Cell{{Text: metric.Plain(transaction)}, armCell(arm.Name)}, document.TextCells(
			digits.Count(mostRuns(errors, average)), samplesText(of(metric.Samples), average),
			average.textIn(in), of(metric.P75).textIn(in), of(metric.P95).textIn(in), errors.text())...)})
	}
	return rows
}

// throughputTable has a row per load and arm.
func throughputTable(_ *Record, under *scenario) []document.Block {
	result := &document.Table{
		Caption: "Throughput (higher is better)",
		Columns: slices.Concat(document.TextColumns("Load", "Arm"), document.NumberColumns("Runs", "Requests, 1/s", "Iterations, 1/s")),
	}
	for _, load := range under.Loads {
		for i, arm := range under.arms {
			requests := under.at(metric.Name(load.Name, metric.RequestsPerSecond), arm.Name)
			iterations := under.at(metric.Name(load.Name, metric.IterationsPerSecond), arm.Name)
			if requests == nil && iterations == nil {
				continue
			}
			result.Rows = append(result.Rows, document.Row{First: i == 0, Cells: append(
				[]document.Cell{nameCell(load.Name), armCell(arm.Name)}, document.TextCells(digits.Count(mostRuns(requests, iterations)), requests.text(), iterations.text())...)})
		}
	}
	return result.Blocks()
}

// mostRuns is the largest number of runs behind any of the values.
func mostRuns(all ...*values) int {
	runs := 0
	for _, found := range all {
		if found != nil {
			runs = max(runs, len(found.numbers))
		}
	}
	return runs
}

// samplesText is the number of samples of all runs: as counted, or those behind a statistic.
func samplesText(counted, behind *values) string {
	if counted != nil {
		return digits.Fixed(counted.sum(), 0)
	}
	if behind != nil && behind.samples > 0 {
		return digits.Count(behind.samples)
	}
	return digits.Dash
}

// windowTable compares transactions alone with the same beside another load.
func windowTable(_ *Record, under *scenario) []document.Block {
	windows := metricWindows(under, func(m metric.Metric) bool {
		_, isFault := metric.CutFault(m.Window)
		return m.IsTransaction() && !isFault
	})
	if len(windows) == 0 {
		return nil
	}
	result := &document.Table{Caption: "Average response times, by phase of the run", Columns: document.TextColumns("Transaction", "Arm")}
	for _, window := range windows {
		result.Columns = append(result.Columns, document.NumberColumns(capitalize(metric.WindowPhrase(window))+", ms")...)
	}
	seen := ""
	for _, m := range under.metrics {
		if !m.IsTransaction() || m.Statistic != metric.Average || m.Window != windows[0] {
			continue
		}
		for _, arm := range under.arms {
			cells := []document.Cell{{Text: metric.Plain(m.Transaction)}, armCell(arm.Name)}
			for _, window := range windows {
				cells = append(cells, document.Cell{Text: under.at(metric.In(metric.Name(m.Of, m.Transaction, m.Statistic), window), arm.Name).text()})
			}
			result.Rows = append(result.Rows, document.Row{First: seen != m.Transaction, Cells: cells})
			seen = m.Transaction
		}
	}
	return []document.Block{{Table: result}}
}

// metricWindows are the windows of the wanted metrics, in chronological order.
func metricWindows(under *scenario, wanted func(metric.Metric) bool) []string {
	var windows []string
	for _, m := range under.metrics {
		if wanted(m) && m.Window != "" && !slices.Contains(windows, m.Window) {
			windows = append(windows, m.Window)
		}
	}
	slices.SortStableFunc(windows, metric.CompareWindows)
	return windows
}
