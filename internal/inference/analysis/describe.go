// SPDX-License-Identifier: Apache-2.0

// Package analysis summarizes the observations of an experiment's runs: per scenario, metric and
// arm, over the valid runs. It is pure.
package analysis

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/kube/sizelimit"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/runs/runorder"
	"perflab.dev/perflab/internal/text/decimal"
)

// maxResults limits the status to a size that the API server stores.
const maxResults = 2000

type cell struct{ scenario, metric, arm string }

type sample struct {
	unit   string
	values []float64
}

// Describe summarizes the succeeded runs. The results are sorted by scenario and arm as the
// experiment lists them, and by metric. They are descriptive: no interval, no verdict. A value that
// can't be read is left out; the answer names it. If not all results fit, every arm's response
// times and rates precede the figures of servers.
func Describe(all []arms.Arm, scenarios []v1alpha1.Scenario, runs []v1alpha1.PerfRun) []v1alpha1.Result {
	samples := gather(runs)
	baselineArm, _ := arms.Baseline(all)
	baseline := baselineArm.Name
	results := make([]v1alpha1.Result, 0, len(samples))
	for at, found := range samples {
		base, hasBase := samples[cell{at.scenario, at.metric, baseline}]
		result := describe(at, found)
		if hasBase && at.arm != baseline {
			result.DeltaPercent = delta(found, base)
		}
		results = append(results, result)
	}
	inOrder := order(all, scenarios)
	slices.SortFunc(results, func(a, b v1alpha1.Result) int {
		return cmp.Or(cmp.Compare(importance(a.Metric), importance(b.Metric)), inOrder(a, b))
	})
	shown := sizelimit.Within(results[:min(len(results), maxResults)], sizelimit.Results)
	slices.SortFunc(shown, inOrder)
	return shown
}

// importance ranks a metric if not all fit: the smaller, the more important.
func importance(name string) int {
	whole, window := metric.CutWindow(name)
	switch of := metric.Parse(whole); {
	case of.IsServer():
		return 2
	case window != "":
		return 1
	}
	return 0
}

func gather(runs []v1alpha1.PerfRun) map[cell]sample {
	// Runs are sorted by the plan, so that floating-point sums are reproducible.
	samples, reader := map[cell]sample{}, observation.Reader{}
	for _, run := range runorder.Sorted(runs) {
		reader.Read(run.Name, observation.OfValidRun(run), func(of *v1alpha1.Observation, value float64) error {
			at := cell{run.Spec.Scenario.Name, of.Metric, run.Spec.Arm}
			samples[at] = sample{unit: of.Unit, values: append(samples[at].values, value)}
			return nil
		})
	}
	return samples
}

func describe(at cell, found sample) v1alpha1.Result {
	summary := stats.Describe(found.values)
	result := v1alpha1.Result{
		Scenario: at.scenario,
		Metric:   at.metric,
		Arm:      at.arm,
		Unit:     found.unit,
		Runs:     int32(summary.N),
		Mean:     decimal.Format(summary.Mean),
	}
	if !math.IsNaN(summary.StandardDeviation) {
		result.StandardDeviation = decimal.Format(summary.StandardDeviation)
	}
	return result
}

func delta(found, base sample) string {
	percent, ok := stats.DeltaPercent(stats.Describe(found.values).Mean, stats.Describe(base.values).Mean)
	if !ok {
		return ""
	}
	// Hundredths of a percent exceed the precision of any run. Adding zero removes the sign of a
	// zero.
	return strconv.FormatFloat(math.Round(percent*100)/100+0, 'f', 2, 64)
}

func order(all []arms.Arm, scenarios []v1alpha1.Scenario) func(a, b v1alpha1.Result) int {
	scenarioAt := map[string]int{}
	for i, scenario := range scenarios {
		scenarioAt[scenario.Name] = i
	}
	armAt := map[string]int{}
	for i, arm := range all {
		armAt[arm.Name] = i
	}
	return func(a, b v1alpha1.Result) int {
		return cmp.Or(
			cmp.Compare(scenarioAt[a.Scenario], scenarioAt[b.Scenario]),
			cmp.Compare(a.Metric, b.Metric),
			cmp.Compare(armAt[a.Arm], armAt[b.Arm]),
		)
	}
}
