// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/metric"
)

// faultOfLoadMetric says why no load of the name can have a metric; empty where
// one can. Loads of one name may be of different kinds in different scenarios.
func faultOfLoadMetric(scenarios []v1alpha1.Scenario, name, rest, window string) string {
	first := ""
	for _, scenario := range scenarios {
		for _, load := range scenario.Loads {
			if load.Name != name {
				continue
			}
			fault := faultOfMetric(load, rest, window)
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

func faultOfMetric(load v1alpha1.Load, rest, window string) string {
	switch {
	case load.DataImport != nil:
		return faultOfImportMetric(load.Name, rest, window)
	case slices.Contains(metric.Rates(), rest):
		return ""
	case load.CheckInCheckOut != nil:
		return faultOfCirculationMetric(load, rest)
	case load.Script.ResultsOrDefault() == v1alpha1.ResultsSummary:
		return faultOfStatistic(load.Name, rest, metric.SummaryStatistics())
	default:
		return faultOfStatistic(load.Name, rest, metric.TransactionStatistics())
	}
}

func faultOfImportMetric(load, rest, window string) string {
	switch known := metric.ImportStatistics(); {
	case !slices.Contains(known, rest):
		return fmt.Sprintf("load %q imports, and has no metric %q: write %s/ and one of %s", load, rest, load, strings.Join(known, ", "))
	case window != "":
		return fmt.Sprintf("load %q imports, and counts from its start to its end: take the window %q away", load, window)
	default:
		return ""
	}
}

// faultOfCirculationMetric lets requests of a transaction pass: load,
// transaction, request, statistic.
func faultOfCirculationMetric(load v1alpha1.Load, rest string) string {
	transaction, _ := metric.CutOwner(rest)
	if known := transactionsOf(load.CheckInCheckOut); !slices.Contains(known, transaction) {
		return fmt.Sprintf("load %q has no transaction %q: write one it has (%s), for example %s/%s/average",
			load.Name, transaction, strings.Join(known, ", "), load.Name, known[0])
	}
	return faultOfStatistic(load.Name, rest, metric.TransactionStatistics())
}

func transactionsOf(circulation *v1alpha1.CheckInCheckOut) []string {
	const neither, all = 0, 100
	switch share := circulation.CheckInPercent; {
	case share != nil && *share == neither:
		return []string{metric.CheckOut}
	case share != nil && *share == all:
		return []string{metric.CheckIn}
	default:
		return []string{metric.CheckIn, metric.CheckOut}
	}
}

// faultOfStatistic judges the last part of a load's metric; what is before it is
// a transaction.
func faultOfStatistic(load, rest string, known []string) string {
	switch of, statistic := metric.CutStatistic(rest); {
	case !slices.Contains(known, statistic):
		return fmt.Sprintf("there is no statistic %q of a transaction: end with one there is (%s)", statistic, strings.Join(known, ", "))
	case of == "":
		return fmt.Sprintf("the metric names no transaction of load %q: write %s/<transaction>/%s", load, load, statistic)
	default:
		return ""
	}
}

func faultOfServerMetric(name string) string {
	known := metric.ServerStatistics()
	if _, statistic := metric.CutStatistic(name); !slices.Contains(known, statistic) {
		return fmt.Sprintf("there is no statistic %q of what servers use: end with one there is (%s), for example %s",
			statistic, strings.Join(known, ", "), metric.Name(name, metric.Average))
	}
	return ""
}
