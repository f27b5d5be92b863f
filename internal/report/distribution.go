// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// quantiles of a run's response times, in milliseconds at the levels, and how many
// response times there are.
type quantiles struct {
	at      []float64
	samples int64
}

// levels of quantiles: even steps for the body, and steps that are even in the
// logarithm of what lies beyond for the tail, as HdrHistogram's plots have them.
var levels = levelsOfQuantiles()

func levelsOfQuantiles() []float64 {
	// As the tables have them.
	all := []float64{0.95, 0.99}
	for percent := 0.0; percent < 90; percent += 5 {
		all = append(all, percent/100)
	}
	for nines := 5; nines <= 20; nines++ {
		all = append(all, 1-math.Pow(10, -float64(nines)/5))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quantilesOf the successful ones of a transaction.
func quantilesOf(own *payload.Payload, transaction string) (quantiles, bool) {
	at, samples := own.Quantiles(transaction, payload.OK, levels...)
	found := quantiles{samples: samples}
	for _, duration := range at {
		found.at = append(found.at, milliseconds(duration))
	}
	return found, samples > 0
}

// known says whether a level has a sample beyond it.
func (q quantiles) known(level float64) bool { return float64(q.samples)*(1-level) >= 1-1e-9 }

// distributions of a transaction, of the arms whose runs have raw results; an arm's
// goes as far as its smallest run does.
func (s *scenario) distributions(subject string) []Distribution {
	var all []Distribution
	for _, arm := range s.arms {
		found := s.at(metric.Name(subject, metric.Average), arm.Name)
		runs := s.quantiles(subject, arm)
		if found == nil || len(runs) == 0 {
			continue
		}
		one := Distribution{Series: arm.series(), Runs: len(runs)}
		for i, level := range levels {
			at, known := quantileOf(runs, i, level, found.scale)
			if !known {
				break
			}
			one.At = append(one.At, at)
		}
		if len(one.At) >= MinPoints {
			all = append(all, one)
		}
	}
	return all
}

// quantiles of an arm's runs.
func (s *scenario) quantiles(subject string, of arm) []quantiles {
	var all []quantiles
	for _, run := range s.valid(of.Name) {
		if trace := s.traces[run.Name]; trace != nil {
			if found, any := trace.quantiles[subject]; any {
				all = append(all, found)
			}
		}
	}
	return all
}

// quantileOf runs is that at the i-th level, if all runs have it.
func quantileOf(runs []quantiles, i int, level float64, scale comparison.Scale) (Quantile, bool) {
	values := make([]float64, 0, len(runs))
	for _, one := range runs {
		if !one.known(level) {
			return Quantile{}, false
		}
		values = append(values, one.at[i])
	}
	return Quantile{level, scale.Center(values), slices.Min(values), slices.Max(values)}, true
}

// describe the arms at the levels that charts mark.
func describe(all []Distribution) string {
	text := ""
	for _, one := range all {
		text += one.Series.Name + ":"
		for _, level := range MarkedLevels {
			if found, any := one.Find(level); any {
				text += fmt.Sprintf(" %s %.0f ms,", Percentile(level), found.Center)
			}
		}
		text = text[:len(text)-1] + ". "
	}
	return text
}

// percentiles show how long all but the slowest take, up to the highest level that the
// runs support.
func percentiles(_ *record, under *scenario, subject string) (chart, bool) {
	all := under.distributions(subject)
	if len(all) == 0 {
		return chart{}, false
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	return chart{
		Title: transaction + ", percentiles, ms",
		Alt: fmt.Sprintf("Percentiles of %s under %s; of each arm the center of its runs, with their lowest and highest. ", transaction, under.Name) +
			describe(all),
		SVG: Percentiles(all, "Share of samples that took no longer"),
	}, true
}

// cumulative shows which share of samples took no longer than a time, for all but the
// slowest hundredth, which percentiles shows.
func cumulative(_ *record, under *scenario, subject string) (chart, bool) {
	const most = 0.99
	all := under.distributions(subject)
	if len(all) == 0 {
		return chart{}, false
	}
	for i, one := range all {
		all[i] = one.UpTo(most)
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	return chart{
		Title: transaction + ", share that took no longer, %",
		Alt:   fmt.Sprintf("Cumulative distribution of %s under %s, up to 99 %%. ", transaction, under.Name) + describe(all),
		SVG:   Cumulative(all, "Milliseconds"),
	}, true
}
