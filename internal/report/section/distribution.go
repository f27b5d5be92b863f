// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
)

// distributions of a transaction, for the arms whose runs have raw results; an arm's smallest run
// limits its levels.
func (s *scenario) distributions(subject string) []chart.Distribution {
	var all []chart.Distribution
	for _, arm := range s.arms {
		found := s.at(metric.Name(subject, metric.Average), arm.Name)
		runs := s.quantiles(subject, arm)
		if found == nil || len(runs) == 0 {
			continue
		}
		one := chart.Distribution{Series: arm.series(), Runs: len(runs)}
		for i, level := range levels {
			at, known := commonQuantile(runs, i, level, found.scale)
			if !known {
				break
			}
			one.At = append(one.At, at)
		}
		if len(one.At) >= chart.MinPoints {
			all = append(all, one)
		}
	}
	return all
}

// quantiles of an arm's runs.
func (s *scenario) quantiles(subject string, of arm) []quantiles {
	var all []quantiles
	for _, run := range s.validRuns(of.Name) {
		if trace := s.traces[run.Name]; trace != nil {
			if found, any := trace.quantiles[subject]; any {
				all = append(all, found)
			}
		}
	}
	return all
}

// commonQuantile is the quantile of runs at the i-th level, if all runs have it.
func commonQuantile(runs []quantiles, i int, level float64, scale comparison.Scale) (chart.Quantile, bool) {
	values := make([]float64, 0, len(runs))
	for _, one := range runs {
		if !one.supports(level) {
			return chart.Quantile{}, false
		}
		values = append(values, one.at[i])
	}
	return chart.Quantile{Level: level, Center: scale.Center(values), Low: slices.Min(values), High: slices.Max(values)}, true
}

// describeDistributions lists the arms' values at the levels that charts mark.
func describeDistributions(all []chart.Distribution) string {
	text := ""
	for _, one := range all {
		text += one.Series.Name + ":"
		for _, level := range chart.MarkedLevels {
			if found, any := one.Find(level); any {
				text += fmt.Sprintf(" %s %.0f ms,", chart.Percentile(level), found.Center)
			}
		}
		text = text[:len(text)-1] + ". "
	}
	return text
}

// percentiles shows response times by percentile, up to the highest level that the runs support.
func percentiles(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	all := under.distributions(subject)
	if len(all) == 0 {
		return document.Chart{}, false
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	return document.Chart{
		Title: transaction + ", percentiles, ms",
		Alt: fmt.Sprintf("Percentiles of %s under %s: center, minimum and maximum over the runs of each arm. ", transaction, under.Name) +
			describeDistributions(all),
		SVG: chart.Percentiles(all, "Cumulative share of samples"),
	}, true
}

// cumulative shows the share of samples up to a time, without the slowest hundredth, which
// percentiles shows.
func cumulative(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	const most = 0.99
	all := under.distributions(subject)
	if len(all) == 0 {
		return document.Chart{}, false
	}
	for i, one := range all {
		all[i] = one.UpTo(most)
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	return document.Chart{
		Title: transaction + ", cumulative distribution, %",
		Alt:   fmt.Sprintf("Cumulative distribution of %s under %s, up to 99 %%. ", transaction, under.Name) + describeDistributions(all),
		SVG:   chart.Cumulative(all, "Milliseconds"),
	}, true
}
