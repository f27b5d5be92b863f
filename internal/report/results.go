// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/metric"
)

// resultsOf describe what each arm did, per scenario.
func resultsOf(r *record) section {
	made := section{ID: "results", Title: "Results"}
	made.Blocks = append(made.Blocks, paragraph(fmt.Sprintf(
		"Means over the valid runs of an arm, with as many digits as %s%s%% intervals support. Response times are those of transactions that worked; samples are those of all runs together.",
		plain(r.answer.confidencePercent), space)))
	for _, scenario := range r.scenarios {
		made.Blocks = append(made.Blocks, heading("Scenario "+scenario.Name))
		before := len(made.Blocks)
		for _, load := range scenario.Loads {
			made.Blocks = append(made.Blocks, r.transactionTable(scenario.Name, load.Name)...)
		}
		made.Blocks = append(made.Blocks, r.throughputTable(scenario)...)
		made.Blocks = append(made.Blocks, r.windowTable(scenario.Name)...)
		made.Blocks = append(made.Blocks, r.requestTable(scenario.Name)...)
		if charts := r.timeCharts(scenario); len(charts) > 0 {
			made.Blocks = append(made.Blocks, block{Charts: charts})
		}
		if charts := r.dotCharts(scenario.Name); len(charts) > 0 {
			made.Blocks = append(made.Blocks, block{Charts: charts})
		}
		made.Blocks = append(made.Blocks, r.longevity(scenario)...)
		if len(made.Blocks) == before && !r.hasBatches(scenario) {
			made.Blocks = append(made.Blocks, paragraph("No valid run gave results yet."))
		}
	}
	made.Blocks = append(made.Blocks, r.batchTables()...)
	return made
}

// hasBatches: some batch of the scenario was measured.
func (r *record) hasBatches(scenario v1alpha1.Scenario) bool {
	return slices.ContainsFunc(scenario.Loads, func(load v1alpha1.Load) bool {
		return r.unit(scenario.Name, metric.Name(load.Name, metric.Duration)) != ""
	})
}

// transactionsOf a load, in order.
func (r *record) transactionsOf(scenario, load string) []string {
	var names []string
	for _, m := range r.metrics[scenario] {
		if m.Of == load && m.IsTransaction() && !slices.Contains(names, m.Transaction) {
			names = append(names, m.Transaction)
		}
	}
	return names
}

// transactionTable has a row per transaction and arm.
func (r *record) transactionTable(scenario, load string) []block {
	made := &table{
		Caption: "Response times of " + load,
		Columns: slices.Concat(words("Transaction", "Arm"), numbers("Runs", "Samples", "Average, ms", "75th percentile, ms", "95th percentile, ms", "Errors, %")),
	}
	for _, transaction := range r.transactionsOf(scenario, load) {
		for i, arm := range r.arms {
			of := func(statistic string) *values {
				return r.at(scenario, metric.Name(load, transaction, statistic), arm.Name)
			}
			average := of(metric.Average)
			if average == nil && of(metric.Errors) == nil {
				continue
			}
			made.Rows = append(made.Rows, row{First: i == 0, Cells: []cell{
				{Text: transaction},
				name(arm.Name),
				{Text: whole(runsOf(of(metric.Errors), average))},
				{Text: samplesOf(of(metric.Samples), average)},
				{Text: average.shown(r.confidence())},
				{Text: of(metric.P75).shown(r.confidence())},
				{Text: of(metric.P95).shown(r.confidence())},
				{Text: of(metric.Errors).shown(r.confidence())},
			}})
		}
	}
	if len(made.Rows) == 0 {
		return nil
	}
	return []block{{Table: made}}
}

// throughputTable has a row per load and arm; more is better.
func (r *record) throughputTable(scenario v1alpha1.Scenario) []block {
	made := &table{
		Caption: "Throughput, where more is better",
		Columns: slices.Concat(words("Load", "Arm"), numbers("Runs", "Requests, 1/s", "Iterations, 1/s")),
	}
	for _, load := range scenario.Loads {
		for i, arm := range r.arms {
			requests := r.at(scenario.Name, metric.Name(load.Name, metric.RequestsPerSecond), arm.Name)
			iterations := r.at(scenario.Name, metric.Name(load.Name, metric.IterationsPerSecond), arm.Name)
			if requests == nil && iterations == nil {
				continue
			}
			made.Rows = append(made.Rows, row{First: i == 0, Cells: []cell{
				name(load.Name), name(arm.Name),
				{Text: whole(runsOf(requests, iterations))},
				{Text: requests.shown(r.confidence())},
				{Text: iterations.shown(r.confidence())},
			}})
		}
	}
	if len(made.Rows) == 0 {
		return nil
	}
	return []block{{Table: made}}
}

func runsOf(all ...*values) int {
	most := 0
	for _, found := range all {
		if found != nil {
			most = max(most, len(found.numbers))
		}
	}
	return most
}

// samplesOf all runs: as counted, or those behind a statistic.
func samplesOf(counted, behind *values) string {
	if counted != nil {
		total := 0.0
		for _, number := range counted.numbers {
			total += number
		}
		return fixed(total, 0)
	}
	if behind != nil && behind.samples > 0 {
		return whole(behind.samples)
	}
	return dash
}

// windowTable sets transactions alone against the same beside another load.
func (r *record) windowTable(scenario string) []block {
	var windows []string
	for _, m := range r.metrics[scenario] {
		if m.IsTransaction() && m.Window != "" && !slices.Contains(windows, m.Window) {
			windows = append(windows, m.Window)
		}
	}
	if len(windows) == 0 {
		return nil
	}
	slices.SortStableFunc(windows, metric.CompareWindows)
	titles := make([]string, 0, len(windows))
	for _, window := range windows {
		titles = append(titles, capital(metric.WindowPhrase(window))+", ms")
	}
	made := &table{
		Caption: "Average response times, by what else was on",
		Columns: slices.Concat(words("Transaction", "Arm"), numbers(titles...)),
	}
	seen := ""
	for _, m := range r.metrics[scenario] {
		if !m.IsTransaction() || m.Statistic != metric.Average || m.Window != windows[0] {
			continue
		}
		for _, arm := range r.arms {
			cells := []cell{{Text: m.Transaction}, name(arm.Name)}
			for _, window := range windows {
				cells = append(cells, cell{Text: r.at(scenario, metric.In(metric.Name(m.Of, m.Transaction, m.Statistic), window), arm.Name).shown(r.confidence())})
			}
			made.Rows = append(made.Rows, row{First: seen != m.Transaction, Cells: cells})
			seen = m.Transaction
		}
	}
	return []block{{Table: made}}
}

// slowRequest is the mean from which a single request is listed, in ms.
const slowRequest = 100

// requestTable lists the requests that took long in any arm.
func (r *record) requestTable(scenario string) []block {
	made := &table{
		Caption: fmt.Sprintf("Requests that took %d ms or more on average", slowRequest),
		Columns: words("Transaction", "Request"),
	}
	for _, arm := range r.arms {
		made.Columns = append(made.Columns, numbers(arm.Name+", ms", arm.Name+", 95th percentile, ms")...)
	}
	type slow struct {
		row  row
		most float64
	}
	var found []slow
	for _, request := range r.requests(scenario) {
		one := slow{row: row{Cells: []cell{{Text: request.transaction}, name(metric.RequestPhrase(request.request))}}}
		for _, arm := range r.arms {
			average, p95 := request.average[arm.Name], request.p95[arm.Name]
			if average != nil {
				one.most = math.Max(one.most, average.mean())
			}
			one.row.Cells = append(one.row.Cells, cell{Text: average.shown(r.confidence())}, cell{Text: p95.shown(r.confidence())})
		}
		if one.most >= slowRequest {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b slow) int {
		switch {
		case a.most > b.most:
			return -1
		case a.most < b.most:
			return 1
		}
		return 0
	})
	for _, one := range found {
		made.Rows = append(made.Rows, one.row)
	}
	if len(made.Rows) == 0 {
		return nil
	}
	return []block{{Table: made}}
}

// request is one kind of request of a transaction, with its means by arm.
type request struct {
	transaction, request string
	average, p95         map[string]*values
}

// requests are those that runs list beside their transactions.
func (r *record) requests(scenario string) []request {
	var all []request
	for _, m := range r.metrics[scenario] {
		if m.IsServer() || m.Request == "" || m.Window != "" || m.Statistic != metric.Average {
			continue
		}
		one := request{transaction: m.Transaction, request: m.Request, average: map[string]*values{}, p95: map[string]*values{}}
		for _, arm := range r.arms {
			one.average[arm.Name] = r.at(scenario, m.Name, arm.Name)
			one.p95[arm.Name] = r.at(scenario, metric.Name(m.Of, m.Transaction, m.Request, metric.P95), arm.Name)
		}
		all = append(all, one)
	}
	return all
}
