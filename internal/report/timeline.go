// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/payload"
)

// maxPoints of a line: what a chart of this width can show.
const maxPoints = 60

// line is a quantity over a run, for one arm.
type line struct {
	arm    arm
	block  int32
	points []point
}

type point struct{ minutes, value float64 }

// band is a stretch of a run in which something else was on.
type band struct {
	name     string
	from, to float64
}

// timedTransactions are those of a scenario that have a course over time.
func timedTransactions(_ *record, scenario *scenario) []string {
	var subjects []string
	for _, load := range scenario.Loads {
		if kinds.IsBatch(load) {
			continue
		}
		for _, transaction := range scenario.transactions(load.Name) {
			subjects = append(subjects, metric.Name(load.Name, transaction))
		}
	}
	return subjects
}

// timeline shows response times over a typical run of each arm.
func timeline(_ *record, under *scenario, subject string) (chart, bool) {
	_, transaction := metric.CutOwner(subject)
	return overRun(under, subject, chart{
		Title: transaction + " over a typical run, ms",
		Alt:   fmt.Sprintf("Average response time of %s under %s over the run with the middle average of each arm. ", transaction, under.Name),
	}, func(value float64) string { return fmt.Sprintf("%.0f", value) }, " ms")
}

// overRun draws a quantity over the typical run of each arm, and tells from what
// to what it went.
func overRun(under *scenario, subject string, result chart, written func(float64) string, unit string) (chart, bool) {
	var lines []line
	var bands []band
	for _, arm := range under.arms {
		run := under.typical(arm.Name, metric.Name(subject, metric.Average))
		if run == nil {
			continue
		}
		points := under.traces[run.Name].courses[subject]
		if len(points) < 2 {
			continue
		}
		if bands == nil {
			bands = bandsOf(run)
		}
		lines = append(lines, line{arm, run.Spec.Block, points})
		result.Alt += fmt.Sprintf("%s (block %d): from %s to %s%s. ", arm.Name, run.Spec.Block, written(lowest(points)), written(highest(points)), unit)
	}
	if len(lines) == 0 {
		return chart{}, false
	}
	result.SVG = overTime(lines, bands)
	result.Live = liveOf(lines, bands, under.unit(metric.Name(subject, metric.Average)))
	return result, true
}

// responseTimes are the means of what worked, in as many stretches as a chart
// can show.
func responseTimes(own *payload.Payload, transaction string, start time.Time) []point {
	if start.IsZero() {
		return nil
	}
	width := time.Duration(own.BucketSeconds) * time.Second
	per := max(int64(math.Ceil(own.End.Sub(own.Start).Seconds()/float64(own.BucketSeconds)/maxPoints)), 1)
	sums := map[int64][2]float64{}
	for _, series := range own.Series {
		if series.Transaction != transaction || series.Request != "" || series.Outcome != payload.OK {
			continue
		}
		for _, bucket := range series.Buckets {
			group := bucket.Index / per
			sum := sums[group]
			sums[group] = [2]float64{sum[0] + milliseconds(bucket.Sum), sum[1] + float64(bucket.Count)}
		}
	}
	points := make([]point, 0, len(sums))
	for group, sum := range sums {
		middle := time.Unix(0, 0).Add(time.Duration(group*per) * width).Add(time.Duration(per) * width / 2)
		points = append(points, point{minutes(start, middle), sum[0] / sum[1]})
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.minutes, b.minutes) })
	return points
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}

// minutes from one time to another.
func minutes(from, to time.Time) float64 { return to.Sub(from).Minutes() }

// bandsOf are the batches of a run that had other load beside them.
func bandsOf(run *v1alpha1.PerfRun) []band {
	var bands []band
	start := timeOf(run.Status.Timings.LoadStart)
	for _, load := range run.Spec.Scenario.Loads {
		for _, status := range run.Status.Loads {
			if status.Name == load.Name && kinds.IsBatch(load) && status.StartTime != nil && status.FinishTime != nil {
				bands = append(bands, band{load.Name, minutes(start, status.StartTime.Time), minutes(start, status.FinishTime.Time)})
			}
		}
	}
	if warmUp := run.Spec.Measurement.WarmUpOrDefault(); warmUp > 0 {
		bands = append(bands, band{"warm-up", 0, warmUp.Minutes()})
	}
	return bands
}

func lowest(points []point) float64 {
	return slices.MinFunc(points, byValue).value
}

func highest(points []point) float64 {
	return slices.MaxFunc(points, byValue).value
}

func byValue(a, b point) int { return cmp.Compare(a.value, b.value) }

// overTime draws lines from zero, with the arms' names at their ends.
func overTime(lines []line, bands []band) picture {
	p := newPlot("Minutes since the load began")
	last, top := 0.0, 0.0
	for _, one := range lines {
		last = math.Max(last, one.points[len(one.points)-1].minutes)
		top = math.Max(top, highest(one.points))
	}
	p.Add(&timeLines{lines: lines, bands: bands, last: last})
	p.X.Min, p.X.Max = 0, last
	p.Y.Min, p.Y.Max = 0, top*1.15
	return drawn(p, 230)
}

// timeLines draws bands, a grid and lines with their names in a strip on the
// right.
type timeLines struct {
	lines []line
	bands []band
	last  float64
}

// GlyphBoxes keep room for the lines' names.
func (t *timeLines) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	arms := make([]arm, 0, len(t.lines))
	for _, one := range t.lines {
		arms = append(arms, one.arm)
	}
	return roomForNames(arms)
}

// widestName is how much of an arm's name stands beside its line.
const widestName = vg.Length(110)

// roomForNames is a strip on the right.
func roomForNames(arms []arm) []plot.GlyphBox {
	style := textStyle(smallText, roleInk)
	var widest vg.Length
	for _, one := range arms {
		widest = max(widest, style.Width(one.Name))
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: min(widest, widestName) + 8, Y: 1}}}}
}

// Plot draws the lines.
func (t *timeLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	right := x(t.last)
	for _, one := range t.bands {
		from, to := clamp(x(one.from), c.Min.X, right), clamp(x(one.to), c.Min.X, right)
		c.FillPolygon(roleWindow.light, rectangle(from, c.Min.Y, to, c.Max.Y))
		label := textStyle(smallText, roleMuted)
		label.YAlign = draw.YTop
		if label.Width(one.name) < to-from-4 {
			c.FillText(label, vg.Point{X: from + 4, Y: c.Max.Y - 2}, one.name)
		}
	}
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.5}, c.Min.X, y(tick.Value), right, y(tick.Value))
	}
	for _, one := range t.lines {
		marked(c, one.arm.index, func() { one.stroke(c, x, y) })
	}
	ends := make([]end, 0, len(t.lines))
	for _, one := range t.lines {
		ends = append(ends, end{one.arm, y(one.points[len(one.points)-1].value)})
	}
	writeNames(c, ends, right)
}

func (l line) stroke(c draw.Canvas, x, y func(float64) vg.Length) {
	path := make([]vg.Point, 0, len(l.points))
	for _, at := range l.points {
		path = append(path, vg.Point{X: x(at.minutes), Y: y(at.value)})
	}
	c.StrokeLines(l.arm.stroke(), path)
}

// stroke of an arm's lines.
func (a arm) stroke() draw.LineStyle {
	style := draw.LineStyle{Color: a.color(), Width: 1.6}
	if a.Twin {
		style.Dashes = []vg.Length{4, 3}
	}
	return style
}

// end of an arm's line.
type end struct {
	arm arm
	y   vg.Length
}

// writeNames puts each arm's name at the end of its line, pushed apart where lines
// end together.
func writeNames(c draw.Canvas, ends []end, right vg.Length) {
	const apart = vg.Length(13)
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	for i := range ends {
		if i > 0 {
			ends[i].y = max(ends[i].y, ends[i-1].y+apart)
		}
	}
	if over := len(ends) - 1; ends[over].y > c.Max.Y-6 {
		shift := ends[over].y - (c.Max.Y - 6)
		for i := range ends {
			ends[i].y -= shift
		}
	}
	for _, one := range ends {
		style := textStyle(smallText, roleInk)
		style.Color, style.YAlign = one.arm.color(), draw.YCenter
		at := vg.Point{X: right + 6, Y: one.y}
		marked(c, one.arm.index, func() { c.FillText(style, at, shortened(one.arm.Name, style, widestName)) })
	}
}
