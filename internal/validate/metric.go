// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/results"
)

// metricCost is the one metric of the whole system.
const metricCost = "system/cost/perHour"

// faultOfLoadMetric says why no load of the name can have a metric; empty where
// one can. Loads of one name may be of different kinds in different scenarios.
func faultOfLoadMetric(scenarios []v1alpha1.Scenario, name, metric, window string) string {
	first := ""
	for _, scenario := range scenarios {
		for _, load := range scenario.Loads {
			if load.Name != name {
				continue
			}
			fault := faultOfMetric(load, metric, window)
			if fault == "" {
				return ""
			}
			if first == "" {
				first = fault
			}
		}
	}
	return first
}

func faultOfMetric(load v1alpha1.Load, metric, window string) string {
	switch {
	case load.DataImport != nil:
		return faultOfImportMetric(load.Name, metric, window)
	case slices.Contains(results.Rates(), metric):
		return ""
	case load.CheckInCheckOut != nil:
		return faultOfCirculationMetric(load, metric)
	case load.Script.ResultsOrDefault() == v1alpha1.ResultsSummary:
		return faultOfStatistic(load.Name, metric, results.SummaryStatistics())
	default:
		return faultOfStatistic(load.Name, metric, results.Statistics())
	}
}

func faultOfImportMetric(load, metric, window string) string {
	switch known := results.ImportStatistics(); {
	case !slices.Contains(known, metric):
		return fmt.Sprintf("load %q imports, and has no metric %q: write %s/ and one of %s", load, metric, load, strings.Join(known, ", "))
	case window != "":
		return fmt.Sprintf("load %q imports, and counts from its start to its end: take the window %q away", load, window)
	default:
		return ""
	}
}

// faultOfCirculationMetric lets requests of a transaction pass: load,
// transaction, request, statistic.
func faultOfCirculationMetric(load v1alpha1.Load, metric string) string {
	transaction, _, _ := strings.Cut(metric, "/")
	if known := transactionsOf(load.CheckInCheckOut); !slices.Contains(known, transaction) {
		return fmt.Sprintf("load %q has no transaction %q: write one it has (%s), for example %s/%s/average",
			load.Name, transaction, strings.Join(known, ", "), load.Name, known[0])
	}
	return faultOfStatistic(load.Name, metric, results.Statistics())
}

func transactionsOf(circulation *v1alpha1.CheckInCheckOut) []string {
	const neither, all = 0, 100
	switch share := circulation.CheckInPercent; {
	case share != nil && *share == neither:
		return []string{results.TransactionCheckOut}
	case share != nil && *share == all:
		return []string{results.TransactionCheckIn}
	default:
		return []string{results.TransactionCheckIn, results.TransactionCheckOut}
	}
}

// faultOfStatistic judges the last part of a load's metric; what is before it is
// a transaction.
func faultOfStatistic(load, metric string, known []string) string {
	cut := strings.LastIndexByte(metric, '/')
	switch statistic := metric[cut+1:]; {
	case !slices.Contains(known, statistic):
		return fmt.Sprintf("there is no statistic %q of a transaction: end with one there is (%s)", statistic, strings.Join(known, ", "))
	case cut < 0:
		return fmt.Sprintf("the metric names no transaction of load %q: write %s/<transaction>/%s", load, load, statistic)
	default:
		return ""
	}
}

func faultOfServerMetric(metric string) string {
	if strings.HasPrefix(metric, "system/") {
		if metric != metricCost {
			return fmt.Sprintf("the system as a whole has no such metric: write %s, or begin with a part of it", metricCost)
		}
		return ""
	}
	statistic := metric[strings.LastIndexByte(metric, '/')+1:]
	if known := results.ServerStatistics(); !slices.Contains(known, statistic) {
		return fmt.Sprintf("there is no statistic %q of what servers use: end with one there is (%s), for example %s/average",
			statistic, strings.Join(known, ", "), metric)
	}
	return ""
}
