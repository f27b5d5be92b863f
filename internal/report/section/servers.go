// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
)

// serverSentences are the sentences about servers in the summary, for each scenario; empty ones
// are omitted.
var serverSentences = []func(*Record, *scenario) string{
	topSentence(metric.CPU, "CPU"), topSentence(metric.Memory, "memory"), databaseSentence, failedSentence, leakSentence,
}

// servers summarizes the busiest modules, PostgreSQL's use, failures and memory growth.
func servers(r *Record) []string {
	var sentences []string
	for _, scenario := range r.scenarios {
		for _, sentence := range serverSentences {
			if text := sentence(r, scenario); text != "" {
				sentences = append(sentences, text)
			}
		}
	}
	return sentences
}

func topSentence(resource, phrase string) func(*Record, *scenario) string {
	return func(r *Record, under *scenario) string {
		top := topModules(under, r.answer.Baseline, resource)
		if len(top) == 0 {
			return ""
		}
		return fmt.Sprintf("Highest average %s under %s: %s (%s).", phrase, under.Name, joinAnd(top), r.answer.Baseline)
	}
}

// topModules are the modules that used a resource most in an arm, with amounts.
func topModules(under *scenario, arm, resource string) []string {
	const few = 3
	type used struct {
		module string
		values *values
	}
	var all []used
	for _, m := range under.metrics {
		if found := under.at(m.Name, arm); found != nil && m.IsUse(metric.Module, resource, metric.Average) {
			all = append(all, used{m.Of, found})
		}
	}
	slices.SortStableFunc(all, func(a, b used) int { return cmp.Compare(b.values.center(), a.values.center()) })
	var names []string
	for _, one := range all[:min(len(all), few)] {
		names = append(names, one.module+" with "+one.values.textWithUnit())
	}
	return names
}

// databaseSentence is the use of PostgreSQL's primary in the baseline.
func databaseSentence(r *Record, under *scenario) string {
	var used []string
	for _, of := range []struct{ resource, noun string }{{metric.CPU, ""}, {metric.CPUUsed, " of its CPUs"}, {metric.Connections, " connections"}} {
		if found := under.at(metric.Name(metric.Primary, of.resource, metric.Average), r.answer.Baseline); found != nil {
			used = append(used, found.textWithUnit()+of.noun)
		}
	}
	if len(used) == 0 {
		return ""
	}
	return fmt.Sprintf("PostgreSQL's primary used %s on average under %s (%s).", joinAnd(used), under.Name, r.answer.Baseline)
}

// failedSentence is the largest share of failed samples of a transaction in any arm.
func failedSentence(_ *Record, under *scenario) string {
	var largest *values
	where := ""
	for _, load := range under.Loads {
		for _, transaction := range under.transactions(load.Name) {
			for _, arm := range under.arms {
				found := under.at(metric.Name(load.Name, transaction, metric.Errors), arm.Name)
				if found != nil && (largest == nil || found.center() > largest.center()) {
					largest, where = found, metric.Plain(transaction)+" in "+arm.Name
				}
			}
		}
	}
	switch {
	case largest == nil:
		return ""
	case largest.center() == 0:
		return fmt.Sprintf("No transaction failed under %s.", under.Name)
	}
	return fmt.Sprintf("Highest error rate under %s: %s, %s.", under.Name, where, largest.textWithUnit())
}
