// SPDX-License-Identifier: Apache-2.0

package section

import (
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
)

// chartKind is a kind of chart: where it goes, what it is drawn from, and what
// its files are called.
type chartKind struct {
	// at is the place in the page that it goes to.
	at string
	// file begins the names of its files; scenario and subject follow.
	file string
	// subjects under a scenario, which have a chart each: metrics, or what their
	// names begin with; everything is an empty one.
	subjects func(*Record, *scenario) []string
	// draw says false where there is nothing to see.
	draw func(r *Record, under *scenario, subject string) (document.Chart, bool)
	// max charts are drawn per scenario; 0 is all.
	max int
}

// Places for charts. Those below the tables of servers are called as the metrics
// in the tables.
const (
	inComparison = "comparison"
	inNoise      = "noise-floor"
	inResults    = "results"
	inMatrix     = "matrix"
)

// chartKinds are all charts that a report has. What stands first in a place comes
// first there.
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

// chartsIn draws what goes to a place, of scenarios that share it.
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
