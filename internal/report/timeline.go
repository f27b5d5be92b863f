// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// maxPoints of a line: what a chart of this width can show.
const maxPoints = 60

// leastOfTrend points make a line: two could only be joined by a straight one, which nobody
// has seen.
const leastOfTrend = 3

// line is a quantity over a run, for one arm.
type line struct {
	arm    arm
	block  int32
	points []point
	// around the points are the extremes of all runs of the arm; none where they say
	// nothing.
	around []extent
	// batches of the run that had this beside them.
	batches []band
	// marks of the run: what people wrote, and containers that restarted.
	marks []band
}

// point of a course: the mean of a stretch of time, and the extremes of what it is a
// mean of, which are seconds to minutes long.
type point struct {
	minutes, value float64
	extent
}

type extent struct{ low, high float64 }

// single is a point of nothing smaller.
func single(minutes, value float64) point { return point{minutes, value, extent{value, value}} }

// with another one.
func (e extent) with(other extent) extent {
	return extent{math.Min(e.low, other.low), math.Max(e.high, other.high)}
}

func (e extent) times(factor float64) extent { return extent{e.low * factor, e.high * factor} }

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
	_, transaction := metric.CutOwner(metric.Plain(subject))
	whole := func(value float64) string { return fixed(value, 0) }
	return courseChart{subject, metric.Name(subject, metric.Average), transaction + " over a typical run", metric.UnitMilliseconds, whole}.overRun(under,
		fmt.Sprintf("Average response time of %s under %s over the run with the middle average of each arm. ", transaction, under.Name))
}

// courseChart is what has a course over a run, and how it is written.
type courseChart struct {
	// subject names the course; by is the metric by which a run is the typical one.
	subject, by string
	title, unit string
	// written is a value without its unit.
	written func(float64) string
}

// overRun draws a quantity over the typical run of each arm, and adds to the text from
// what to what it went.
func (c courseChart) overRun(under *scenario, alt string) (chart, bool) {
	result := chart{Alt: alt}
	var lines []line
	var bands []band
	for _, arm := range under.arms {
		run := under.typical(arm.Name, c.by)
		if run == nil {
			continue
		}
		trace, byHand := under.traces[run.Name], marksOf(under.marks, run.Name)
		one := line{arm: arm, block: run.Spec.Block, points: trace.courses[c.subject], batches: batchesOf(run), marks: slices.Concat(byHand, restartBands(trace.restarts))}
		if metric.Parse(c.by).IsServer() {
			one.marks = append(one.marks, trace.silent...)
		}
		if len(one.points) == 0 {
			continue
		}
		if len(one.points) < leastOfTrend {
			// Arms are not shown without those that they are compared with.
			return result, false
		}
		var runs int
		one.around, runs = under.around(c.subject, arm, one.points)
		result.Alt += c.told(one, runs) + toldMarks(byHand) + toldRestarts(trace.restarts)
		lines, bands = append(lines, one), warmUpOf(run)
	}
	if len(lines) > mostAround {
		for i := range lines {
			lines[i].around = nil
		}
	}
	if len(lines) == 0 {
		return result, false
	}
	in := displayOf(c.unit, highestOf(lines))
	for i := range lines {
		lines[i] = lines[i].in(in)
	}
	result.Title = headed(c.title, in.unit)
	result.SVG, result.Live = overTime(lines, bands), liveOf(lines, bands, in.unit)
	return result, true
}

// in another unit.
func (l line) in(unit display) line {
	l.points, l.around = slices.Clone(l.points), slices.Clone(l.around)
	for i := range l.points {
		l.points[i].value *= unit.factor
		l.points[i].extent = l.points[i].times(unit.factor)
	}
	for i := range l.around {
		l.around[i] = l.around[i].times(unit.factor)
	}
	return l
}

// told says in words what a line shows, and how many runs there are around it.
func (c courseChart) told(one line, runs int) string {
	in := displayOf(c.unit, lowest(one.points), highest(one.points))
	write := func(value float64) string { return c.written(value * in.factor) }
	text := fmt.Sprintf("%s (block %d): from %s to %s", one.arm.Name, one.block, write(lowest(one.points)), withUnit(write(highest(one.points)), in.unit))
	if one.around != nil {
		all := extremes(one.around)
		text += fmt.Sprintf(", of %s from %s to %s", prose.Counted(runs, "run"), write(all.low), withUnit(write(all.high), in.unit))
	}
	return text + ". "
}

// responseTimes are the means of what worked, in as many stretches as a chart
// can show.
func responseTimes(own *payload.Payload, transaction string, start time.Time) []point {
	if start.IsZero() {
		return nil
	}
	width, per := stretchesOf(own)
	buckets := bucketsOf(own, transaction)
	stretches := map[int64]*stretch{}
	for _, index := range slices.Sorted(maps.Keys(buckets)) {
		group := index / per
		if stretches[group] == nil {
			stretches[group] = &stretch{extent: extent{math.Inf(1), math.Inf(-1)}}
		}
		stretches[group].add(buckets[index])
	}
	points := make([]point, 0, len(stretches))
	for _, group := range slices.Sorted(maps.Keys(stretches)) {
		one := stretches[group]
		middle := time.Unix(0, 0).Add(time.Duration(group)*width + width/2)
		points = append(points, point{minutes(start, middle), one.mean(), one.extent})
	}
	return points
}

// stretchesOf a load are as many as a chart can show: how long each is, and how many
// buckets it has.
func stretchesOf(own *payload.Payload) (width time.Duration, per int64) {
	per = max(int64(math.Ceil(own.End.Sub(own.Start).Seconds()/float64(own.BucketSeconds)/maxPoints)), 1)
	return time.Duration(per) * time.Duration(own.BucketSeconds) * time.Second, per
}

// stretch of a run: the sum and the number of response times, in milliseconds, and the
// extremes of its parts' means.
type stretch struct {
	sum, count float64
	extent
}

func (s *stretch) mean() float64 { return s.sum / s.count }

func (s *stretch) add(part stretch) {
	s.sum, s.count = s.sum+part.sum, s.count+part.count
	s.extent = s.with(extent{part.mean(), part.mean()})
}

// bucketsOf a transaction's successful ones.
func bucketsOf(own *payload.Payload, transaction string) map[int64]stretch {
	buckets := map[int64]stretch{}
	for bucket := range successes(own, transaction) {
		sum := buckets[bucket.Index]
		sum.sum, sum.count = sum.sum+milliseconds(bucket.Sum), sum.count+float64(bucket.Count)
		buckets[bucket.Index] = sum
	}
	return buckets
}

// successes are the buckets of what worked of a transaction, over all scenarios and
// classes.
func successes(own *payload.Payload, transaction string) iter.Seq[payload.Bucket] {
	return func(yield func(payload.Bucket) bool) {
		for _, series := range own.Series {
			if series.Transaction != transaction || series.Request != "" || series.Outcome != payload.OK {
				continue
			}
			for _, bucket := range series.Buckets {
				if !yield(bucket) {
					return
				}
			}
		}
	}
}

func milliseconds(duration time.Duration) float64 {
	return float64(duration) / float64(time.Millisecond)
}

// minutes from one time to another.
func minutes(from, to time.Time) float64 { return to.Sub(from).Minutes() }

// batchesOf a run that had other load beside them.
func batchesOf(run *v1alpha1.PerfRun) []band {
	var batches []band
	start := timeOf(run.Status.Timings.LoadStart)
	for _, load := range run.Spec.Scenario.Loads {
		for _, status := range run.Status.Loads {
			if status.Name == load.Name && kinds.IsBatch(load) && status.StartTime != nil && status.FinishTime != nil {
				batches = append(batches, band{load.Name, minutes(start, status.StartTime.Time), minutes(start, status.FinishTime.Time)})
			}
		}
	}
	return batches
}

// warmUpOf a run, if it has any.
func warmUpOf(run *v1alpha1.PerfRun) []band {
	if warmUp := run.Spec.Measurement.WarmUpOrDefault(); warmUp > 0 {
		return []band{{"warm-up", 0, warmUp.Minutes()}}
	}
	return nil
}

func lowest(points []point) float64 {
	return slices.MinFunc(points, byValue).value
}

func highest(points []point) float64 {
	return slices.MaxFunc(points, byValue).value
}

func byValue(a, b point) int { return cmp.Compare(a.value, b.value) }

// overTime draws lines from zero, with the arms' names at their ends, and what was on or
// happened above them.
func overTime(lines []line, bands []band) picture {
	last, line, top := lastOf(lines), highestOf(lines), 0.0
	for _, one := range lines {
		for _, at := range one.around {
			top = math.Max(top, at.high)
		}
	}
	axis := timeAxisOf(last)
	p := newPlot(axis.label)
	p.X.Tick.Marker = axis
	p.Add(&timeLines{lines: lines, bands: bands, last: last})
	p.X.Min, p.X.Max = 0, last
	p.Y.Min, p.Y.Max = 0, math.Max(line, math.Min(top, line*mostAbove))*1.15
	return drawnOver(p, 230+headroomOf(lines, bands).height(), keysOf(lines))
}

func highestOf(lines []line) float64 {
	top := 0.0
	for _, one := range lines {
		top = math.Max(top, highest(one.points))
	}
	return top
}

// lastOf lines is when the last of them ends, in minutes.
func lastOf(lines []line) float64 {
	last := 0.0
	for _, one := range lines {
		last = math.Max(last, one.points[len(one.points)-1].minutes)
	}
	return last
}

// timeAxis is the time since a load began, in minutes, as an axis tells it.
type timeAxis struct {
	label, unit string
	// per minute are its units.
	per    float64
	places int
}

// timeAxisOf a run of so many minutes is in seconds where it is short.
func timeAxisOf(last float64) timeAxis {
	const short = 3
	if last < short {
		return timeAxis{"Seconds since the load began", "s", time.Minute.Seconds(), 0}
	}
	return timeAxis{"Minutes since the load began", "min", 1, 1}
}

// write a moment, given in minutes.
func (t timeAxis) write(minutes float64) string { return fixed(minutes*t.per, t.places) }

// Ticks at round numbers of the axis's unit.
func (t timeAxis) Ticks(low, high float64) []plot.Tick {
	ticks := fewTicks{}.Ticks(low*t.per, high*t.per)
	for i := range ticks {
		ticks[i].Value /= t.per
	}
	return ticks
}

// mostAbove the lines, as a multiple, is how far extremes are shown: one spike would press
// the lines to the ground.
const mostAbove = 3

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
	return append(roomForNames(arms), plot.GlyphBox{X: 0.5, Y: 1, Rectangle: vg.Rectangle{Max: vg.Point{Y: headroomOf(t.lines, t.bands).height()}}})
}

const (
	// widestName is how much of an arm's name stands beside its line.
	widestName = vg.Length(110)
	// widerFont is how much wider than the font it is measured with a text may come out:
	// DejaVu Sans and Verdana are what browsers without Arial take.
	widerFont = 1.2
)

// roomForNames is a strip on the right.
func roomForNames(arms []arm) []plot.GlyphBox {
	style := textStyle(smallText, roleInk)
	var widest vg.Length
	for _, one := range arms {
		widest = max(widest, style.Width(one.Name))
	}
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: min(widest, widestName)*widerFont + 8, Y: 1}}}}
}

// Plot draws the lines.
func (t *timeLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	right := x(t.last)
	above := headroomOf(t.lines, t.bands)
	for _, one := range t.bands {
		one.shade(c, x, right, c.Max.Y+above.ofBands())
	}
	for _, tick := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: roleGrid.light, Width: 0.5}, c.Min.X, y(tick.Value), right, y(tick.Value))
	}
	for i, one := range t.lines {
		marked(c, one.arm.index, func() {
			one.fill(c, x, y)
			one.mark(c, x, above.ofBatches(i))
		})
	}
	for _, one := range t.lines {
		marked(c, one.arm.index, func() { one.stroke(c, x, y) })
	}
	number, row := 1, 0
	for _, one := range t.lines {
		if len(one.marks) > 0 {
			marked(c, one.arm.index, func() { one.annotate(c, x, right, above.ofMarks(row), number) })
			number, row = number+len(one.marks), row+1
		}
	}
	ends := make([]end, 0, len(t.lines))
	for _, one := range t.lines {
		ends = append(ends, end{one.arm, y(one.points[len(one.points)-1].value)})
	}
	writeNames(c, ends, right)
}

// fill the extremes, as far as the chart goes.
func (l line) fill(c draw.Canvas, x, y func(float64) vg.Length) {
	if l.around == nil {
		return
	}
	var upper, lower []vg.Point
	for i, at := range l.points {
		upper = append(upper, vg.Point{X: x(at.minutes), Y: min(y(l.around[i].high), c.Max.Y)})
		lower = append(lower, vg.Point{X: x(at.minutes), Y: y(l.around[i].low)})
	}
	slices.Reverse(lower)
	c.FillPolygon(shaded{l.arm.role().light, faint}, append(upper, lower...))
}

// mark when batches were on, above the lines.
func (l line) mark(c draw.Canvas, x func(float64) vg.Length, above vg.Length) {
	for _, one := range l.batches {
		from, to := clamp(x(one.from), c.Min.X, c.Max.X), clamp(x(one.to), c.Min.X, c.Max.X)
		c.FillPolygon(l.arm.color(), rectangle(from, c.Max.Y+above, to, c.Max.Y+above+thickBatch))
	}
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
		marked(c, one.arm.index, func() { c.FillText(style, at, shortened(one.arm.Name, style, widestName*widerFont)) })
	}
}
