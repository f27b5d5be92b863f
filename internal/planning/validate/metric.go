// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload/label"
)

// loadMetricFault returns why no load of the name can have a metric; empty if one can.
// Loads of one name may have different kinds in different scenarios.
func loadMetricFault(scenarios []v1alpha1.Scenario, name, rest, window string) string {
	first := ""
	for _, scenario := range scenarios {
		for _, load := range scenario.Loads {
			if load.Name != name {
				continue
			}
			fault := scenarioMetricFault(scenario, load, rest, window)
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

// scenarioMetricFault returns why a load of a scenario can't have a metric; empty if it can.
func scenarioMetricFault(scenario v1alpha1.Scenario, load v1alpha1.Load, rest, window string) string {
	after, isFault := metric.CutFault(window)
	switch {
	case scenario.Capacity != nil:
		return capacityMetricFault(scenario, load, rest, window)
	case isFault && !hasFault(scenario, after):
		return fmt.Sprintf("the window is after fault %q, and no scenario with load %q has a fault of this name", after, load.Name)
	case slices.Contains(metric.FaultStatistics(), rest) && !kinds.IsBatch(load):
		if !isFault {
			return fmt.Sprintf("%s is the cost of a fault: write %s@fault- and the name of the fault", rest, metric.Name(load.Name, rest))
		}
		return ""
	}
	return metricFault(load, rest, window)
}

func hasFault(scenario v1alpha1.Scenario, name string) bool {
	return slices.ContainsFunc(scenario.Faults, func(one v1alpha1.Fault) bool { return one.Name == name })
}

// capacityMetricFault: a scenario with a capacity has no other metric.
func capacityMetricFault(scenario v1alpha1.Scenario, load v1alpha1.Load, rest, window string) string {
	stepped, _ := scenario.Capacity.LoadOf(scenario.Loads)
	if stepped.Name == load.Name && rest == metric.Capacity && window == "" {
		return ""
	}
	return fmt.Sprintf("scenario %q searches for a capacity, and response times at different levels can't be compared: write %s, and limit other metrics with capacity.objectives",
		scenario.Name, metric.Name(stepped.Name, metric.Capacity))
}

func metricFault(load v1alpha1.Load, rest, window string) string {
	loadKind := kinds.ForLoad(load)
	if batch, is := loadKind.(kind.Batch); is {
		return batchMetricFault(load.Name, batch, rest, window)
	}
	if slices.Contains(metric.Rates(), rest) {
		return ""
	}
	if fault := transactionFault(load.Name, loadKind.Transactions(), rest); fault != "" {
		return fault
	}
	return statisticFault(load.Name, rest, loadKind.Statistics())
}

func batchMetricFault(load string, batch kind.Batch, rest, window string) string {
	verb := batch.Terms().Verb
	switch known := batch.Statistics(); {
	case !slices.Contains(known, rest):
		meant := prose.Closest(rest, slices.Sorted(slices.Values(known)))
		return fmt.Sprintf("load %q %s, and has no metric %q: %s %s/ and one of %s", load, verb, rest, write(meant), load, choices(known))
	case window != "":
		return fmt.Sprintf("load %q %s, and is measured from its start to its end: remove the window %q", load, verb, window)
	default:
		return ""
	}
}

// mostChoices is the number of choices that a message lists; a series of imports has more.
const mostChoices = 12

// choices lists valid values, truncated if there are too many.
func choices(known []string) string {
	if len(known) <= mostChoices {
		return strings.Join(known, ", ")
	}
	return strings.Join(known[:mostChoices-1], ", ") + " … " + known[len(known)-1]
}

// transactionFault accepts requests of a transaction, as load, transaction, request,
// statistic; and any transaction if the load's are unknown.
func transactionFault(load string, known []string, rest string) string {
	path, _ := label.Cut(rest)
	transaction := path[0]
	if len(known) == 0 || slices.Contains(known, transaction) {
		return ""
	}
	meant := prose.Closest(transaction, known)
	return fmt.Sprintf("load %q has no transaction %q: %s one of its transactions (%s), for example %s/%s/average",
		load, transaction, write(meant), strings.Join(known, ", "), load, cmp.Or(meant, known[0]))
}

// write begins the advice, with a suggestion if there is one.
func write(meant string) string {
	if meant == "" {
		return "write"
	}
	return fmt.Sprintf("did you mean %s? Write", meant)
}
