// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// leastPoints is the minimum number of points in a line of response times.
	leastPoints = 10
	// maxGrowing is the number of modules shown, those that grew most first.
	maxGrowing = 5
)

// growth is the change of a quantity per hour in an arm, over long runs.
type growth struct {
	what, arm, unit string
	// course of the quantity over a run.
	course           string
	runs             int
	slope, low, high float64
	// level is the average of the quantity.
	level float64
}

// share is the growth per hour as a share of the average.
func (g growth) share() float64 { return g.slope / g.level }

// isSignificant reports whether the whole interval is above zero and the growth reaches the
// threshold.
func (g growth) isSignificant(worth float64) bool { return g.low > 0 && g.share() >= worth }

// growthThreshold is the growth per hour, as a share of the average, that is reported.
func growthThreshold(r *Record) float64 {
	return float64(r.Experiment.Spec.Measurement.GrowthPercentOrDefault()) / 100
}

// longevity shows how response times and memory changed over long runs. It has no verdict,
// because it does not compare arms.
func longevity(r *Record, under *scenario) []document.Block {
	if !isLong(under.runs) {
		return nil
	}
	growths := growthsUnder(under)
	if len(growths) == 0 {
		return nil
	}
	result := &document.Table{
		Caption: "Change per hour of load under " + under.Name,
		Columns: slices.Concat(document.TextColumns("Quantity", "Arm"), document.NumberColumns("Runs", "Change per hour", "Interval", "% of average per hour")),
	}
	result.Note = fmt.Sprintf("Measured from %s after the start of the load, when heaps and caches have had time to fill. A restarted container starts another line of the same slope, after the same delay.",
		prose.Duration(growthStart(r.Experiment.Spec.Measurement)))
	var sure []growth
	for i, one := range growths {
		result.Rows = append(result.Rows, document.Row{First: i == 0 || growths[i-1].what != one.what, Cells: one.cells()})
		if one.isSignificant(growthThreshold(r)) {
			sure = append(sure, one)
		}
	}
	return append(result.Blocks(), document.Paragraph(longevitySentence(sure, growthThreshold(r))))
}

// growthsUnder are the growths of response times and of held resources.
func growthsUnder(under *scenario) []growth {
	return append(slowerResponses(under), heldGrowths(under)...)
}

// places is the number of decimal places of the change and its interval.
func (g growth) places() int { return digits.Decimals(g.slope, (g.high-g.low)/2) }

// title is the subject at the beginning of a sentence; a transaction's name keeps its case.
func (g growth) title() string {
	if metric.Parse(g.course).IsServer() {
		return capitalize(g.what)
	}
	return g.what
}

func (g growth) cells() []document.Cell {
	places := g.places()
	return append([]document.Cell{{Text: g.title()}, armCell(g.arm)}, document.TextCells(
		digits.Count(g.runs), g.perHour(digits.Signed(g.slope, places)), digits.Interval(g.low, g.high, places), digits.Signed(100*g.share(), 2))...)
}

func longevitySentence(sure []growth, worth float64) string {
	if len(sure) == 0 {
		return fmt.Sprintf("Nothing grew by %s or more of its average per hour, beyond noise: no sign of a leak.", percent(worth*100))
	}
	return fmt.Sprintf("Growth by %s or more of the average per hour, beyond noise: %s. This suggests a leak or accumulating data.", percent(worth*100), joinAnd(groupedByQuantity(sure)))
}

// groupedByQuantity names each quantity that grew once, with its arms; growths of the same
// quantity are adjacent.
func groupedByQuantity(growths []growth) []string {
	var named []string
	for i := 0; i < len(growths); {
		var arms []string
		what := growths[i].what
		for ; i < len(growths) && growths[i].what == what; i++ {
			arms = append(arms, growths[i].arm)
		}
		named = append(named, what+" ("+joinAnd(arms)+")")
	}
	return named
}

// isLong reports whether the loads of all runs were long.
func isLong(runs journal) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(run *v1alpha1.PerfRun) bool {
		return !run.Spec.Measurement.IsLong(timeValue(run.Status.Timings.LoadFinish).Sub(timeValue(run.Status.Timings.LoadStart)))
	})
}

// slowerResponses are the changes of average response times, without the warm-up and the times of
// imports.
func slowerResponses(under *scenario) []growth {
	var growths []growth
	for _, load := range under.Loads {
		for _, transaction := range under.transactions(load.Name) {
			for _, arm := range under.arms {
				if one, found := slowerResponse(under, metric.Name(load.Name, transaction), arm.Name); found {
					growths = append(growths, one)
				}
			}
		}
	}
	return growths
}

func slowerResponse(under *scenario, transaction, arm string) (growth, bool) {
	var slopes []stats.Estimate
	for _, run := range under.validRuns(arm) {
		if slope, found := responseSlope(run, cmp.Or(under.traces[run.Name], emptyTrace).courses[transaction]); found {
			slopes = append(slopes, slope)
		}
	}
	average := metric.Name(transaction, metric.Average)
	one := growth{what: metric.Parse(average).Phrase(), course: transaction, arm: arm, unit: "ms/h", level: under.at(average, arm).center()}
	return one, one.estimate(slopes, under.confidence)
}

// responseSlope is the change of a transaction's response times in one run, per hour.
func responseSlope(run *v1alpha1.PerfRun, responses []chart.Point) (stats.Estimate, bool) {
	bands := append(batchBands(run), chart.Band{From: 0, To: growthStart(run.Spec.Measurement).Minutes()})
	var hours, values []float64
	for _, at := range responses {
		if !slices.ContainsFunc(bands, func(b chart.Band) bool { return b.From <= at.Minutes && at.Minutes <= b.To }) {
			hours, values = append(hours, at.Minutes/time.Hour.Minutes()), append(values, at.Value)
		}
	}
	if len(hours) < leastPoints {
		return stats.Estimate{}, false
	}
	slope, err := stats.Slope(hours, values)
	return slope, err == nil
}

// growthStart is the time in a long run from which growth is measured.
func growthStart(measurement v1alpha1.Measurement) time.Duration {
	return max(measurement.WarmUpOrDefault(), measurement.GrowthAfterOrDefault())
}

// estimate summarizes the slopes of runs. The run is the unit: from two runs on, the interval is
// that of their mean; the interval of a single run does not cover the variation between runs.
func (g *growth) estimate(slopes []stats.Estimate, confidence float64) bool {
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

// heldGrowths are the servers' quantities that grew most, by the slopes in the runs.
func heldGrowths(under *scenario) []growth {
	var held [][]growth
	for _, m := range under.metrics {
		if isHeldResource(m) {
			if found := heldGrowth(under, m); len(found) > 0 {
				held = append(held, found)
			}
		}
	}
	steepest := func(of []growth) float64 {
		return slices.MaxFunc(of, func(a, b growth) int { return cmp.Compare(a.share(), b.share()) }).share()
	}
	slices.SortStableFunc(held, func(a, b []growth) int { return cmp.Compare(steepest(b), steepest(a)) })
	return slices.Concat(held[:min(len(held), maxGrowing)]...)
}

// isHeldResource reports whether a metric is the slope of a resource that is released eventually
// unless it leaks. Disks are excluded: loads fill them.
func isHeldResource(m metric.Metric) bool {
	return m.IsUse(metric.Module, metric.Memory, metric.Slope) || m.IsUse(metric.Postgres, metric.Connections, metric.Slope) ||
		m.Component == metric.Custom && m.Statistic == metric.Slope && m.Window == ""
}

// heldGrowth of a quantity, by arm.
func heldGrowth(under *scenario, m metric.Metric) []growth {
	var growths []growth
	for _, arm := range under.arms {
		if one, sure := heldGrowthIn(under, m, arm.Name); sure {
			growths = append(growths, one)
		}
	}
	return growths
}

// memoryPhrase is the prefix of the phrase for a module's memory growth.
const memoryPhrase = "memory of "

// heldGrowthIn an arm, by a slope that runs record; false if its interval is unknown.
func heldGrowthIn(under *scenario, m metric.Metric, arm string) (growth, bool) {
	quantity, _ := metric.CutStatistic(m.Name)
	of := func(statistic string) *values { return under.at(metric.Name(quantity, statistic), arm) }
	slope := under.at(m.Name, arm)
	if slope == nil {
		return growth{}, false
	}
	m.Statistic = ""
	one := growth{what: m.Phrase(), course: quantity, arm: arm, unit: slope.unit, runs: len(slope.numbers), slope: slope.center(), level: of(metric.Average).center()}
	one.low, one.high = slope.interval()
	if one.runs == 1 {
		// The interval of the run, at 95 %.
		one.low, one.high = of(metric.SlopeLow).center(), of(metric.SlopeHigh).center()
	}
	return one, !math.IsNaN(one.low)
}

// leakParagraph is a paragraph about memory growth.
func leakParagraph(r *Record, under *scenario) []document.Block {
	if text := leakSentence(r, under); text != "" {
		return []document.Block{document.Paragraph(text)}
	}
	return nil
}

// leakSentence names the modules whose memory grew; empty if memory was not measured.
func leakSentence(r *Record, under *scenario) string {
	growing, known := growingModules(r, under)
	if !known {
		return ""
	}
	if len(growing) == 0 {
		return fmt.Sprintf("No module's memory grew by more than %s per hour under %s: no sign of a leak within one run.", percent(growthThreshold(r)*100), under.Name)
	}
	more := ""
	if left := len(growing) - maxGrowing; left > 0 {
		more = fmt.Sprintf(", and %d more", left)
		growing = growing[:maxGrowing]
	}
	what := "a leak or caches that are still filling; a longer run would show which"
	if isLong(under.runs) {
		what = "a leak or accumulating data"
	}
	return fmt.Sprintf("Memory grew during load under %s: %s%s. This is %s.", under.Name, joinAnd(growing), more, what)
}

// growingModules are the modules whose memory grew in some arm, in run after run; false if memory
// was not measured.
func growingModules(r *Record, under *scenario) (growing []string, known bool) {
	for _, m := range under.metrics {
		if !m.IsUse(metric.Module, metric.Memory, metric.Slope) {
			continue
		}
		var in []string
		for _, arm := range under.arms {
			one, sure := heldGrowthIn(under, m, arm.Name)
			if !sure || one.runs < 2 && !isLong(under.runs) {
				// The slope of one short run shows heaps that fill, unless other runs have it
				// too.
				continue
			}
			known = true
			if one.isSignificant(growthThreshold(r)) {
				in = append(in, fmt.Sprintf("+%s in %s", under.at(m.Name, arm.Name).textWithUnit(), arm.Name))
			}
		}
		if len(in) > 0 {
			growing = append(growing, fmt.Sprintf("%s (%s)", m.Of, strings.Join(in, ", ")))
		}
	}
	return growing, known
}

// text is the growth with its size: a module whose memory grows leaks.
func (g growth) text() string {
	verb := g.what + " up"
	if module, isMemory := strings.CutPrefix(g.what, memoryPhrase); isMemory {
		verb = module + " leaks"
	}
	places := g.places()
	return fmt.Sprintf("%s %s (%s to %s)", verb, g.perHour(digits.Fixed(g.slope, places)), digits.Fixed(g.low, places), digits.Fixed(g.high, places))
}

// perHour formats a change with its unit; that of a count is /h.
func (g growth) perHour(number string) string {
	if count, isCount := strings.CutPrefix(g.unit, "1/"); isCount {
		return number + "/" + count
	}
	return withUnit(number, g.unit)
}
