// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/stats"
)

// Windows of a load beside others.
const (
	windowAlone  = "alone"
	windowDuring = "during-"
)

// Slowdown is what background load does to a metric in an arm, against what it
// does in the baseline, as logarithms of ratios.
type Slowdown struct {
	Scenario, Metric, During, Arm string
	Primary                       bool
	// Baseline is the growth in the baseline; More is how much larger it is in
	// the arm: the difference in differences.
	Baseline, More stats.Estimate
}

// slowdowns compares each metric while a background load is on with the same
// metric alone. Primary metrics come first.
func slowdowns(question Question, table *comparison.Table, all []arms.Arm) []Slowdown {
	var found []Slowdown
	for _, scenario := range table.Scenarios() {
		for _, metric := range table.Metrics(scenario) {
			name, window := comparison.CutWindow(metric)
			during, isDuring := strings.CutPrefix(window, windowDuring)
			if isDuring && (question.IsPrimary(name) || question.IsPrimary(metric) || isResponseTime(name)) {
				found = append(found, slowdownsOf(question, table, all, scenario, name, during)...)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Slowdown) int { return -cmp.Compare(rank(a.Primary), rank(b.Primary)) })
	return found
}

func rank(first bool) int {
	if first {
		return 1
	}
	return 0
}

// isResponseTime tells a transaction's average and 95th percentile.
func isResponseTime(name string) bool {
	parts := strings.Split(name, "/")
	const transaction = 3
	return len(parts) == transaction && !IsServer(parts[0]) && (parts[2] == "average" || parts[2] == "p95")
}

func slowdownsOf(question Question, table *comparison.Table, all []arms.Arm, scenario, name, during string) []Slowdown {
	loaded, _ := fit(table, scenario, name+"@"+windowDuring+during, all)
	alone, found := fit(table, scenario, name+"@"+windowAlone, all)
	// Blocks are counted per series; where one of them lacks some, the two
	// don't belong together any more.
	if !found || !slices.Equal(alone.series.Blocks, loaded.series.Blocks) {
		return nil
	}
	slowdown, err := stats.DifferenceInDifferences(alone.series.Plain, loaded.series.Plain, len(all), len(alone.series.Blocks), alone.baseline)
	if err != nil {
		return nil
	}
	primary := slices.ContainsFunc(question.Primary, func(metric string) bool {
		base, _ := comparison.CutWindow(metric)
		return base == name
	})
	var told []Slowdown
	for i, arm := range all {
		if !arm.Baseline && !arm.Twin {
			told = append(told, Slowdown{scenario, name, during, arm.Name, primary, slowdown.Reference, slowdown.Model.Effect(i)})
		}
	}
	return told
}
