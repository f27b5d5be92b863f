// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/payload/label"
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
	loadKind := kinds.Of(load)
	if batch, is := loadKind.(kind.Batch); is {
		return faultOfBatchMetric(load.Name, batch, rest, window)
	}
	if slices.Contains(metric.Rates(), rest) {
		return ""
	}
	if fault := faultOfTransaction(load.Name, loadKind.Transactions(), rest); fault != "" {
		return fault
	}
	return faultOfStatistic(load.Name, rest, loadKind.Statistics())
}

func faultOfBatchMetric(load string, batch kind.Batch, rest, window string) string {
	verb := batch.Words().Verb
	switch known := batch.Statistics(); {
	case !slices.Contains(known, rest):
		return fmt.Sprintf("load %q %s, and has no metric %q: write %s/ and one of %s", load, verb, rest, load, choices(known))
	case window != "":
		return fmt.Sprintf("load %q %s, and counts from its start to its end: take the window %q away", load, verb, window)
	default:
		return ""
	}
}

// mostChoices are as many as a sentence lists; a series of imports has more.
const mostChoices = 12

// choices lists what may be written, the last one after an ellipsis where there
// are too many.
func choices(known []string) string {
	if len(known) <= mostChoices {
		return strings.Join(known, ", ")
	}
	return strings.Join(known[:mostChoices-1], ", ") + " … " + known[len(known)-1]
}

// faultOfTransaction lets requests of a transaction pass: load, transaction,
// request, statistic; and any transaction where nobody knows them before.
func faultOfTransaction(load string, known []string, rest string) string {
	path, _ := label.Cut(rest)
	transaction := path[0]
	if len(known) == 0 || slices.Contains(known, transaction) {
		return ""
	}
	return fmt.Sprintf("load %q has no transaction %q: write one it has (%s), for example %s/%s/average",
		load, transaction, strings.Join(known, ", "), load, known[0])
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
