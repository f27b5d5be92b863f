// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
)

// sequence is a quantity of an arm in steps: from block to block, from import to
// import, from size to size.
type sequence struct {
	arm    arm
	stages []stage
}

// mostLines is how many arms a chart shows run by run and over time beside what decides:
// more hide each other, and make the page heavy.
const mostLines = 8

// stage is a value at a step, with its interval; without one, low and high are NaN.
type stage struct{ at, value, low, high float64 }

// stageOf is the center of an arm's runs.
func stageOf(at float64, of *values) stage {
	low, high := of.shownInterval()
	return stage{at, of.center(), low, high}
}

// drift shows every run in the order of blocks: what changed for all arms alike while
// the experiment went on is no arm's.
func drift(_ *record, under *scenario, subject string) (chart, bool) {
	const enough = 4
	if len(under.arms) > mostLines {
		return chart{}, false
	}
	m, unit := metric.Parse(subject), under.unit(subject)
	var all []sequence
	for _, arm := range under.arms {
		found := under.at(subject, arm.Name)
		if found == nil || len(found.numbers) < enough {
			continue
		}
		one := sequence{arm: arm}
		for i, number := range found.numbers {
			one.stages = append(one.stages, stage{float64(found.blocks[i]), number, math.NaN(), math.NaN()})
		}
		slices.SortFunc(one.stages, byStep)
		all = append(all, one)
	}
	return chart{
		Title: headed("Block by block: "+m.Phrase(), unit),
		Alt:   fmt.Sprintf("Every valid run in the order of blocks: %s, in %s. ", m.Under(under.Name), unit) + toldStages(all),
	}.stepped(all, "Block", 0)
}

// pricedMetrics are those that decide, where arms cost more or less.
func pricedMetrics(r *record, under *scenario) []string {
	costs := map[float64]bool{}
	for _, found := range under.of(metric.Cost) {
		costs[found.center()] = true
	}
	if len(costs) < 2 {
		return nil
	}
	return primaryMetrics(r, under)
}

// price shows what each arm costs, and what one gets for it.
func price(_ *record, under *scenario, subject string) (chart, bool) {
	m, unit, currency := metric.Parse(subject), under.unit(subject), under.unit(metric.Cost)
	var all []sequence
	for _, arm := range under.arms {
		cost, found := under.at(metric.Cost, arm.Name), under.at(subject, arm.Name)
		if cost != nil && found != nil {
			all = append(all, sequence{arm, []stage{stageOf(cost.center(), found)}})
		}
	}
	alt := fmt.Sprintf("What each arm costs, in %s, and %s, in %s. ", currency, m.Under(under.Name), unit)
	for _, one := range all {
		alt += fmt.Sprintf("%s: %s and %s. ", one.arm.Name, fixed(one.stages[0].at, 2), rough(one.stages[0].value))
	}
	if len(all) < 2 {
		return chart{}, false
	}
	return chart{Title: headed("Cost and "+m.Phrase(), unit), Alt: alt}.stepped(all, "Cost, "+currency, 2)
}

// seriesLoads are the loads of several imports.
func seriesLoads(_ *record, under *scenario) []string {
	var names []string
	for _, load := range under.Loads {
		if kinds.IsBatch(load) && under.parts(load.Name) > 1 {
			names = append(names, load.Name)
		}
	}
	return names
}

// series shows how long each import of a load took.
func series(_ *record, under *scenario, load string) (chart, bool) {
	all := under.sequencesOf(func(arm string) []stage {
		var stages []stage
		for part := 1; part <= under.parts(load); part++ {
			if found := under.at(metric.Name(load, metric.Part(part), metric.Duration), arm); found != nil {
				stages = append(stages, stageOf(float64(part), found))
			}
		}
		return stages
	})
	return chart{
		Title: "One by one: " + load + ", s",
		Alt:   fmt.Sprintf("Duration of each of %s under %s, in order, in s. ", load, under.Name) + toldStages(all),
	}.stepped(all, "Import", 0)
}

// sequencesOf the arms that have two stages at least.
func (s *scenario) sequencesOf(stages func(arm string) []stage) []sequence {
	var all []sequence
	for _, arm := range s.arms {
		if found := stages(arm.Name); len(found) > 1 {
			all = append(all, sequence{arm, found})
		}
	}
	return all
}

// sized is a metric of loads of one kind that differ in their size.
type sized struct {
	// like says what the loads have in common, of in what they differ.
	like, of string
	// statistic of each: what their metrics' names have behind the load's.
	statistic string
	at        []sizedPlace
}

// sizedPlace is where the metric of a size is.
type sizedPlace struct {
	size   int64
	under  *scenario
	metric string
}

func (s sized) subject() string { return metric.Name(s.like, s.statistic) }

// sizedMetrics are those that three sizes or more have: of batches the duration, of
// others the average of each transaction.
func sizedMetrics(r *record) []sized {
	const enough = 3
	var all []sized
	for _, under := range r.scenarios {
		for _, load := range under.Loads {
			if found, is := kinds.ForLoad(load).(kind.Sized); is {
				for _, statistic := range under.sizedStatistics(load) {
					all = addSize(all, found, under, load, statistic)
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(one sized) bool { return len(one.at) < enough })
}

func (s *scenario) sizedStatistics(load v1alpha1.Load) []string {
	if kinds.IsBatch(load) {
		return []string{metric.Duration}
	}
	var names []string
	for _, transaction := range s.transactions(load.Name) {
		names = append(names, metric.Name(transaction, metric.Average))
	}
	return names
}

// addSize to those of its like. Of a size that several scenarios have, the first counts.
func addSize(all []sized, found kind.Sized, under *scenario, load v1alpha1.Load, statistic string) []sized {
	size, of, like := found.Size()
	// Imports beside users are others than imports alone.
	if slices.ContainsFunc(under.Loads, func(other v1alpha1.Load) bool { return kinds.IsBatch(other) != kinds.IsBatch(load) }) {
		like += " with other load"
	}
	at := slices.IndexFunc(all, func(known sized) bool { return known.like == like && known.statistic == statistic })
	if at < 0 {
		at, all = len(all), append(all, sized{like: like, of: of, statistic: statistic})
	}
	if !slices.ContainsFunc(all[at].at, func(known sizedPlace) bool { return known.size == size }) {
		all[at].at = append(all[at].at, sizedPlace{size, under, metric.Name(load.Name, statistic)})
	}
	return all
}

// sizesFrom are the subjects whose first scenario is this one, so that each is drawn once.
func sizesFrom(r *record, under *scenario) []string {
	var subjects []string
	for _, one := range sizedMetrics(r) {
		if one.at[0].under == under {
			subjects = append(subjects, one.subject())
		}
	}
	return subjects
}

// sizes shows a metric by the size of the load.
func sizes(r *record, _ *scenario, subject string) (chart, bool) {
	for _, one := range sizedMetrics(r) {
		if one.subject() == subject {
			return one.drawn(r)
		}
	}
	return chart{}, false
}

func (s sized) drawn(r *record) (chart, bool) {
	slices.SortFunc(s.at, func(a, b sizedPlace) int { return cmp.Compare(a.size, b.size) })
	var all []sequence
	for _, arm := range r.arms {
		one := sequence{arm: arm}
		for _, place := range s.at {
			if found := place.under.at(place.metric, arm.Name); found != nil {
				one.stages = append(one.stages, stageOf(float64(place.size), found))
			}
		}
		if len(one.stages) > 1 {
			all = append(all, one)
		}
	}
	what := s.statistic
	if what != metric.Duration {
		what = metric.Parse(metric.Name("", s.statistic)).Phrase()
	}
	unit := s.at[0].under.unit(s.at[0].metric)
	return chart{
		Title: headed(capital(s.like)+" by "+s.of+": "+what, unit),
		Alt:   fmt.Sprintf("%s of %s by number of %s, in %s. ", capital(what), s.like, s.of, unit) + toldStages(all),
	}.stepped(all, capital(s.of), 0)
}

func byStep(a, b stage) int { return cmp.Compare(a.at, b.at) }

// toldStages says in words what sequences show.
func toldStages(all []sequence) string {
	text := ""
	for _, one := range all {
		text += one.arm.Name + ":"
		for _, at := range one.stages {
			text += fmt.Sprintf(" %s at %s,", rough(at.value), fixed(at.at, 0))
		}
		text = text[:len(text)-1] + ". "
	}
	return text
}

// stepped is the chart with sequences in it, if there are any.
func (c chart) stepped(all []sequence, xLabel string, places int) (chart, bool) {
	if len(all) == 0 {
		return chart{}, false
	}
	c.SVG = sequences(all, xLabel, places)
	return c, true
}

// sequences draws lines from step to step, with intervals. Places are behind the point of
// what stands at the steps.
func sequences(all []sequence, xLabel string, places int) picture {
	p := newPlot(xLabel)
	drawing := &steppedLines{all, places}
	p.X.Min, p.X.Max = math.Inf(1), math.Inf(-1)
	for _, one := range all {
		for _, at := range one.stages {
			p.X.Min, p.X.Max = math.Min(p.X.Min, at.at), math.Max(p.X.Max, at.at)
			p.Y.Max = math.Max(p.Y.Max, at.value)
			if !math.IsNaN(at.high) {
				p.Y.Max = math.Max(p.Y.Max, at.high)
			}
		}
	}
	p.Y.Min, p.Y.Max = 0, p.Y.Max*1.08
	margin := 0.03 * (p.X.Max - p.X.Min)
	p.X.Min, p.X.Max = p.X.Min-margin, p.X.Max+margin
	p.X.Tick.Marker = drawing
	p.Add(drawing)
	return drawn(p, 230)
}

// steppedLines draws sequences, with the arms' names at their ends.
type steppedLines struct {
	all    []sequence
	places int
}

// Ticks are at the steps, labelled where there is room.
func (l *steppedLines) Ticks(low, high float64) []plot.Tick {
	const apart = 0.07
	var steps []float64
	for _, one := range l.all {
		for _, at := range one.stages {
			steps = append(steps, at.at)
		}
	}
	slices.Sort(steps)
	var ticks []plot.Tick
	last := math.Inf(-1)
	for _, step := range slices.Compact(steps) {
		tick := plot.Tick{Value: step}
		if step-last >= apart*(high-low) {
			tick.Label, last = fixed(step, l.places), step
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// GlyphBoxes keep room for the arms' names.
func (l *steppedLines) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	arms := make([]arm, 0, len(l.all))
	for _, one := range l.all {
		arms = append(arms, one.arm)
	}
	return roomForNames(arms)
}

// Plot draws a grid, and the lines with their intervals beside each other.
func (l *steppedLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.5}, c.Min.X, y(tick.Value), c.Max.X, y(tick.Value))
	}
	ends := make([]end, 0, len(l.all))
	for i, one := range l.all {
		aside := 3 * (vg.Length(i) - vg.Length(len(l.all)-1)/2)
		marked(c, one.arm.index, func() { one.draw(c, func(at float64) vg.Length { return x(at) + aside }, y) })
		ends = append(ends, end{one.arm, y(one.stages[len(one.stages)-1].value)})
	}
	writeNames(c, ends, c.Max.X)
}

func (s sequence) draw(c draw.Canvas, x, y func(float64) vg.Length) {
	var path []vg.Point
	for _, at := range s.stages {
		path = append(path, vg.Point{X: x(at.at), Y: y(at.value)})
		if !math.IsNaN(at.low) {
			c.StrokeLine2(draw.LineStyle{Color: s.arm.color(), Width: 1}, x(at.at), max(y(at.low), c.Min.Y), x(at.at), y(at.high))
		}
	}
	if len(path) >= leastOfTrend {
		c.StrokeLines(s.arm.stroke(), path)
	}
	for _, at := range path {
		c.DrawGlyph(draw.GlyphStyle{Color: s.arm.color(), Radius: 2.4, Shape: s.arm.mark()}, at)
	}
}
