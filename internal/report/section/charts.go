// SPDX-License-Identifier: Apache-2.0

package section

import (
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
)

// chartKind is a kind of chart: its place, its source, and its file names.
type chartKind struct {
	// at is its place in the page.
	at string
	// file is the prefix of its file names; scenario and subject follow.
	file string
	// subjects under a scenario, with a chart each: metrics, or prefixes of their names;
	// everything returns an empty one.
	subjects func(*Record, *scenario) []string
	// draw returns false if there is nothing to show.
	draw func(r *Record, under *scenario, subject string) (document.Chart, bool)
	// max is the number of charts per scenario; 0 means all.
	max int
}

// Places for charts. Those below the tables of servers have the names of the metrics in the
// tables.
const (
	inComparison = "comparison"
	inNoise      = "noise-floor"
	inResults    = "results"
	inMatrix     = "matrix"
)

// chartKinds are all kinds of charts, in the order within each place.
var chartKinds = []chartKind{
	{inComparison, "forest", everything, forest, 0},
	{inComparison, "price", pricedMetrics, price, 2},
	{inNoise, "noise", everything, noiseForest, 0},
	{inResults, "levels", levelMetrics, levelChart, 4},
	{inResults, "recovery", recoveredLoads, recoveryChart, 8},
	{inResults, "time", timedTransactions, timeline, 6},
	{inResults, "throughput", timedLoads, throughput, 3},
	{inResults, "users", timedLoads, users, 3},
	{inResults, "failed", timedLoads, failures, 3},
	{inResults, "percentiles", timedTransactions, percentiles, 4},
	{inResults, "cumulative", timedTransactions, cumulative, 4},
	{inResults, "heat", timedTransactions, heatMap, 4},
	{inResults, "runs", primaryMetrics, dots, 6},
	{inResults, "drift", primaryMetrics, drift, 4},
	{inResults, "series", seriesLoads, importSeries, 0},
	{inMatrix, "sizes", sizeSubjects, sizes, 0},
	{metric.Name(metric.Module, metric.CPU), "course", busiestModules(metric.CPU), course, 0},
	{metric.Name(metric.Module, metric.Memory), "course", busiestModules(metric.Memory), course, 0},
	{metric.Postgres, "course", serverCourses(metric.Primary, metric.Replica+"1"), course, 0},
	{metric.Kafka, "course", serverCourses(metric.Broker+"0", metric.Broker+"1", metric.Broker+"2"), course, 0},
}

func everything(*Record, *scenario) []string { return []string{""} }

// chartsIn draws the charts of a place, for the scenarios that share it.
func chartsIn(r *Record, at string, under ...*scenario) []document.Block {
	var charts []document.Chart
	for _, kind := range chartKinds {
		for _, scenario := range under {
			if kind.at == at {
				charts = append(charts, kind.charts(r, scenario)...)
			}
		}
	}
	if len(charts) == 0 {
		return nil
	}
	return []document.Block{{Charts: charts}}
}

func (k chartKind) charts(r *Record, under *scenario) []document.Chart {
	var charts []document.Chart
	for _, subject := range k.subjects(r, under) {
		if k.max > 0 && len(charts) == k.max {
			break
		}
		if result, any := k.draw(r, under, subject); any {
			charts = append(charts, result.Named(strings.TrimSuffix(k.file+"-"+under.Name+"-"+subject, "-")))
		}
	}
	return charts
}
