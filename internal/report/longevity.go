// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/stats"
)

const (
	// longRun is the load from which a run tells how things change over time.
	// Heaps take half an hour and more to reach their size and caches to fill; a
	// line through less than two hours shows that rather than a leak.
	longRun = 2 * time.Hour
	// leastPoints of a line of response times.
	leastPoints = 10
	// mostGrowing modules are shown, those that grew most first.
	mostGrowing = 5
)

// growth is the change of a quantity per hour in an arm, over long runs.
type growth struct {
	what, arm, unit  string
	runs             int
	slope, low, high float64
	// level is the average of the quantity.
	level float64
}

// share of the average that it grew by per hour.
func (g growth) share() float64 { return g.slope / g.level }

// isSure: the whole interval lies above none, and it is worth telling.
func (g growth) isSure() bool { return g.low > 0 && g.share() >= leastGrowth }

// longevity tells how response times and memory changed over long runs. It gives
// no verdict: arms are not compared.
func (r *record) longevity(scenario v1alpha1.Scenario) []block {
	if !r.isLong(scenario.Name) {
		return nil
	}
	growths := append(r.slowerResponses(scenario), r.memoryGrowths(scenario.Name)...)
	if len(growths) == 0 {
		return nil
	}
	made := &table{
		Caption: "Over time under " + scenario.Name + ": change per hour of load",
		Columns: slices.Concat(words("What", "Arm"), numbers("Runs", "Change per hour", "Interval"), words("In"), numbers("Of the average, % per hour")),
	}
	var sure []growth
	for i, one := range growths {
		places := decimals(one.slope, (one.high-one.low)/2)
		made.Rows = append(made.Rows, row{First: i == 0 || growths[i-1].what != one.what, Cells: []cell{
			{Text: capital(one.what)},
			name(one.arm),
			{Text: whole(one.runs)},
			{Text: signed(one.slope, places)},
			{Text: signed(one.low, places) + " to " + signed(one.high, places)},
			{Text: one.unit},
			{Text: signed(100*one.share(), 2)},
		}})
		if one.isSure() {
			sure = append(sure, one)
		}
	}
	return []block{{Table: made}, paragraph(longevitySentence(sure))}
}

func longevitySentence(sure []growth) string {
	if len(sure) == 0 {
		return fmt.Sprintf("Nothing grew by %s%s%% of its average per hour or more, beyond what noise explains: no sign of a leak.", plain(leastGrowth*100), space)
	}
	return fmt.Sprintf("What grew by %s%s%% of its average per hour or more, beyond what noise explains: %s. Suspect a leak, or data that piles up.", plain(leastGrowth*100), space, listed(byWhat(sure)))
}

// byWhat names what grew once, with its arms; growths of one thing follow each
// other.
func byWhat(growths []growth) []string {
	var named []string
	for i := 0; i < len(growths); {
		var arms []string
		what := growths[i].what
		for ; i < len(growths) && growths[i].what == what; i++ {
			arms = append(arms, growths[i].arm)
		}
		named = append(named, what+" ("+listed(arms)+")")
	}
	return named
}

// isLong: every valid run's load was on for long.
func (r *record) isLong(scenario string) bool {
	any := false
	for _, run := range r.journal {
		if run.Spec.Scenario.Name != scenario || run.Status.Phase != v1alpha1.RunSucceeded {
			continue
		}
		any = true
		if timings := run.Status.Timings; timeOf(timings.LoadFinish).Sub(timeOf(timings.LoadStart)) <= longRun {
			return false
		}
	}
	return any
}

// slowerResponses are the changes of average response times, warm-up and the
// times of imports left out.
func (r *record) slowerResponses(scenario v1alpha1.Scenario) []growth {
	var growths []growth
	for _, load := range scenario.Loads {
		for _, transaction := range r.transactionsOf(scenario.Name, load.Name) {
			for _, arm := range r.arms {
				var slopes []stats.Estimate
				for _, run := range r.valid(scenario.Name, arm.Name) {
					if slope, found := r.slopeOf(run, transactionOf{load.Name, transaction}); found {
						slopes = append(slopes, slope)
					}
				}
				average := metric.Name(load.Name, transaction, metric.Average)
				one := growth{what: metric.Parse(average).Phrase(), arm: arm.Name, unit: "ms/h", level: r.at(scenario.Name, average, arm.Name).mean()}
				if one.take(slopes, r.confidence()) {
					growths = append(growths, one)
				}
			}
		}
	}
	return growths
}

// slopeOf a transaction's response times in one run, per hour.
func (r *record) slopeOf(run *v1alpha1.PerfRun, of transactionOf) (stats.Estimate, bool) {
	kept := r.trace[run.Name]
	if kept == nil {
		return stats.Estimate{}, false
	}
	bands := bandsOf(run)
	var hours, values []float64
	for _, at := range kept.responses[of] {
		if !slices.ContainsFunc(bands, func(b band) bool { return b.from <= at.minutes && at.minutes <= b.to }) {
			hours, values = append(hours, at.minutes/time.Hour.Minutes()), append(values, at.value)
		}
	}
	if len(hours) < leastPoints {
		return stats.Estimate{}, false
	}
	slope, err := stats.Slope(hours, values)
	return slope, err == nil
}

// take sums up the slopes of runs. The run is the unit: from two runs on the
// interval is that of their mean; that of a single run knows nothing of the others
// there could be.
func (g *growth) take(slopes []stats.Estimate, confidence float64) bool {
	g.runs = len(slopes)
	switch len(slopes) {
	case 0:
		return false
	case 1:
		g.slope = slopes[0].Value
		g.low, g.high = slopes[0].Interval(confidence)
	default:
		values := make([]float64, 0, len(slopes))
		for _, slope := range slopes {
			values = append(values, slope.Value)
		}
		mean := stats.Mean(values)
		g.slope = mean.Value
		g.low, g.high = mean.Interval(confidence)
	}
	return !math.IsNaN(g.low)
}

// memoryGrowths are those of the modules that grew most, by the slopes that runs
// record.
func (r *record) memoryGrowths(scenario string) []growth {
	byModule := map[string][]growth{}
	var modules []string
	for _, m := range r.metrics[scenario] {
		if !m.IsUse(metric.Module, metric.Memory, metric.Slope) {
			continue
		}
		for _, arm := range r.arms {
			if one, found := r.memoryGrowth(scenario, m, arm.Name); found {
				byModule[m.Of] = append(byModule[m.Of], one)
			}
		}
		if len(byModule[m.Of]) > 0 {
			modules = append(modules, m.Of)
		}
	}
	steepest := func(module string) float64 { return slices.MaxFunc(byModule[module], bySlope).share() }
	slices.SortStableFunc(modules, func(a, b string) int { return cmp.Compare(steepest(b), steepest(a)) })
	var growths []growth
	for _, module := range modules[:min(len(modules), mostGrowing)] {
		growths = append(growths, byModule[module]...)
	}
	return growths
}

func bySlope(a, b growth) int { return cmp.Compare(a.share(), b.share()) }

func (r *record) memoryGrowth(scenario string, m metric.Metric, arm string) (growth, bool) {
	of := func(statistic string) *values {
		return r.at(scenario, metric.Name(metric.Module, m.Of, metric.Memory, statistic), arm)
	}
	found := r.at(scenario, m.Name, arm)
	if found == nil {
		return growth{}, false
	}
	one := growth{what: "memory of " + m.Of, arm: arm, unit: found.unit, runs: len(found.numbers), slope: found.mean(), level: of(metric.Average).mean()}
	if one.runs > 1 {
		one.low, one.high = stats.Mean(found.numbers).Interval(r.confidence())
	} else {
		// The run's own interval, of 95 %.
		one.low, one.high = of(metric.SlopeLow).mean(), of(metric.SlopeHigh).mean()
	}
	return one, !math.IsNaN(one.low)
}
