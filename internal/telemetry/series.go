// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/runs/provenance"
)

// mostSeries limits the series of releases to those with the latest complete experiments:
// users choose the names, and Prometheus keeps a series for each.
const mostSeries = 300

var (
	seriesLabels = []string{"namespace", "scenario", "metric", "arm", "unit", "release"}
	meanDesc     = prometheus.NewDesc("perflab_series_mean",
		"Mean of a primary metric over the runs of the last completed experiment.", seriesLabels, nil)
	lowDesc = prometheus.NewDesc("perflab_series_low",
		"Low end of the 95 % interval of perflab_series_mean.", seriesLabels, nil)
	highDesc = prometheus.NewDesc("perflab_series_high",
		"High end of the 95 % interval of perflab_series_mean.", seriesLabels, nil)
	changesDesc = prometheus.NewDesc("perflab_series_changes",
		"Changes reported for the series of experiments in the cluster, by verdict.", []string{"namespace", "scenario", "metric", "arm", "verdict"}, nil)
	leftOutDesc = prometheus.NewDesc("perflab_series_left_out",
		"Number of experiments with at least one series left out because there are too many.", nil, nil)
)

// seriesKey identifies a series.
type seriesKey struct{ namespace, scenario, metric, arm string }

// collectSeries sends the latest point of each series of releases.
func collectSeries(all []v1alpha1.PerfExperiment, to chan<- prometheus.Metric) {
	seen, leftOut := map[seriesKey]bool{}, 0
	for _, experiment := range newestFirst(all) {
		left := false
		for _, at := range primaryResults(experiment) {
			row := &experiment.Status.Results[at]
			series := seriesKey{experiment.Namespace, row.Scenario, row.Metric, row.Arm}
			if seen[series] {
				continue
			}
			if len(seen) == mostSeries {
				left = true
				continue
			}
			seen[series] = true
			sendPoint(series, row, releases.ReleaseName(experiment), to)
		}
		if left {
			leftOut++
		}
	}
	to <- prometheus.MustNewConstMetric(leftOutDesc, prometheus.GaugeValue, float64(leftOut))
	sendChanges(all, seen, to)
}

// newestFirst returns the experiments that were completed here, the latest first.
func newestFirst(all []v1alpha1.PerfExperiment) []*v1alpha1.PerfExperiment {
	var done []*v1alpha1.PerfExperiment
	for i := range all {
		if all[i].Status.CompletionTime != nil && !provenance.IsImported(&all[i]) {
			done = append(done, &all[i])
		}
	}
	slices.SortStableFunc(done, func(a, b *v1alpha1.PerfExperiment) int {
		return b.Status.CompletionTime.Compare(a.Status.CompletionTime.Time)
	})
	return done
}

// primaryResults returns the indexes of the results of primary metrics, without the A/A control.
func primaryResults(experiment *v1alpha1.PerfExperiment) []int {
	primary := analysisplan.New(&experiment.Spec).Primary
	twin := ""
	for _, arm := range experiment.Status.Arms {
		if arm.Twin {
			twin = arm.Name
		}
	}
	var found []int
	for at := range experiment.Status.Results {
		row := &experiment.Status.Results[at]
		if slices.Contains(primary, row.Metric) && (twin == "" || row.Arm != twin) {
			found = append(found, at)
		}
	}
	return found
}

func sendPoint(series seriesKey, row *v1alpha1.Result, release string, to chan<- prometheus.Metric) {
	mean, err := strconv.ParseFloat(row.Mean, 64)
	if err != nil {
		return
	}
	values := map[*prometheus.Desc]float64{meanDesc: mean}
	if deviation, err := strconv.ParseFloat(row.StandardDeviation, 64); err == nil && row.Runs > 1 {
		estimate := stats.Estimate{Value: mean, StandardError: deviation / math.Sqrt(float64(row.Runs)), DegreesOfFreedom: int(row.Runs) - 1}
		values[lowDesc], values[highDesc] = estimate.Interval(0.95)
	}
	for desc, value := range values {
		send(to, desc, value, series.namespace, series.scenario, series.metric, series.arm, row.Unit, release)
	}
}

// sendChanges sends the number of changes of each reported series.
func sendChanges(all []v1alpha1.PerfExperiment, reported map[seriesKey]bool, to chan<- prometheus.Metric) {
	type kind struct {
		seriesKey
		verdict v1alpha1.Verdict
	}
	counts := map[kind]int{}
	for series := range reported {
		counts[kind{series, v1alpha1.VerdictWorse}], counts[kind{series, v1alpha1.VerdictBetter}] = 0, 0
	}
	for i := range all {
		for j := range all[i].Status.Changes {
			change := &all[i].Status.Changes[j]
			one := kind{seriesKey{all[i].Namespace, change.Scenario, change.Metric, change.Arm}, change.Verdict}
			if _, known := counts[one]; known {
				counts[one]++
			}
		}
	}
	for one, count := range counts {
		send(to, changesDesc, float64(count), one.namespace, one.scenario, one.metric, one.arm, string(one.verdict))
	}
}

// send sends a gauge unless Prometheus rejects a label.
func send(to chan<- prometheus.Metric, desc *prometheus.Desc, value float64, labels ...string) {
	if made, err := prometheus.NewConstMetric(desc, prometheus.GaugeValue, value, labels...); err == nil {
		to <- made
	}
}
