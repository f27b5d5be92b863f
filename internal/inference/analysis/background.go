// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
)

// Slowdown is the effect of background load on a metric in an arm, compared with that in the
// baseline, as logarithms of ratios.
type Slowdown struct {
	Scenario, Metric, During, Arm string
	Primary                       bool
	// Baseline is the growth in the baseline; More is the additional growth in the arm: the
	// difference in differences.
	Baseline, More stats.Estimate
}

// slowdowns compares each metric under a background load with the same metric alone. Primary
// metrics come first.
func slowdowns(question analysisplan.Question, table *comparison.Table, all []arms.Arm) []Slowdown {
	var found []Slowdown
	for _, scenario := range table.Scenarios() {
		for _, recorded := range table.Metrics(scenario) {
			name, window := metric.CutWindow(recorded)
			during, isDuring := metric.CutDuring(window)
			if isDuring && (question.IsPrimary(name) || question.IsPrimary(recorded) || metric.Parse(name).IsResponseTime()) {
				found = append(found, metricSlowdowns(question, table, all, scenario, name, during)...)
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

func metricSlowdowns(question analysisplan.Question, table *comparison.Table, all []arms.Arm, scenario, name, during string) []Slowdown {
	loaded, _ := fit(table, scenario, metric.In(name, metric.During(during)), all)
	alone, found := fit(table, scenario, metric.In(name, metric.Alone), all)
	// Blocks are numbered per series; if one series lacks some, the numbers don't match.
	if !found || !slices.Equal(alone.series.Blocks, loaded.series.Blocks) {
		return nil
	}
	slowdown, err := stats.DifferenceInDifferences(alone.series.Plain, loaded.series.Plain, len(all), len(alone.series.Blocks), alone.baseline)
	if err != nil {
		return nil
	}
	primary := slices.ContainsFunc(question.Primary, func(decisive string) bool {
		base, _ := metric.CutWindow(decisive)
		return base == name
	})
	var result []Slowdown
	for i, arm := range all {
		if !arm.Baseline && !arm.Twin {
			result = append(result, Slowdown{scenario, name, during, arm.Name, primary, slowdown.Reference, slowdown.Model.Effect(i)})
		}
	}
	return result
}
