// SPDX-License-Identifier: Apache-2.0

package metric

import (
	"regexp"
	"slices"
	"strings"
)

// rising are the statistics of loads, and the resources of servers, that get
// better when higher.
var rising = []string{
	RecordsPerSecond, RequestsPerSecond, TransactionsPerSecond, IterationsPerSecond,
	Samples, Records, Imports, CacheHits, MemoryFree, StorageFree,
}

// HigherIsBetter tells which way the metric gets better. Of custom metrics those
// listed do when higher.
func (m Metric) HigherIsBetter(custom []string) bool { return m.risingPart(custom) != "" }

// risingPart is the part of the name for which higher is better; empty where
// lower is.
func (m Metric) risingPart(custom []string) string {
	switch m.Component {
	case "":
		return among(rising, m.Statistic)
	case Custom:
		first, _ := CutOwner(m.Of)
		return among(custom, first)
	}
	return among(rising, m.Resource)
}

func among(known []string, name string) string {
	if slices.Contains(known, name) {
		return name
	}
	return ""
}

// camel finds where a word begins in what a metric is called.
var camel = regexp.MustCompile("[A-Z]")

// Directions say which way the metrics get better, of which those custom ones do
// when higher that are listed.
func Directions(metrics []Metric, custom []string) string {
	var higher []string
	for _, one := range metrics {
		what := camel.ReplaceAllStringFunc(one.risingPart(custom), func(capital string) string { return " " + strings.ToLower(capital) })
		if what != "" && !slices.Contains(higher, what) {
			higher = append(higher, what)
		}
	}
	if len(higher) == 0 {
		return "Lower is better."
	}
	slices.Sort(higher)
	return "Lower is better, except for " + strings.Join(higher, ", ") + "."
}
