// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// maxPoints of a line: what a chart of this width can show.
const maxPoints = 60

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
	var lines []Line
	var bands []Band
	for _, arm := range under.arms {
		run := under.typical(arm.Name, c.by)
		if run == nil {
			continue
		}
		trace, byHand := under.traces[run.Name], marksOf(under.marks, run.Name)
		one := Line{Series: arm.series(), Block: run.Spec.Block, Points: trace.courses[c.subject], Batches: batchesOf(run), Marks: slices.Concat(byHand, restartBands(trace.restarts))}
		if metric.Parse(c.by).IsServer() {
			one.Marks = append(one.Marks, trace.silent...)
		}
		if len(one.Points) == 0 {
			continue
		}
		if len(one.Points) < MinPoints {
			// Arms are not shown without those that they are compared with.
			return result, false
		}
		var runs int
		one.Around, runs = under.around(c.subject, arm, one.Points)
		result.Alt += c.told(one, runs) + toldMarks(byHand) + toldRestarts(trace.restarts)
		lines, bands = append(lines, one), warmUpOf(run)
	}
	if len(lines) > mostAround {
		for i := range lines {
			lines[i].Around = nil
		}
	}
	if len(lines) == 0 {
		return result, false
	}
	in := displayOf(c.unit, HighestOf(lines))
	for i := range lines {
		lines[i] = lines[i].Times(in.factor)
	}
	result.Title = headed(c.title, in.unit)
	result.SVG, result.Live = OverTime(lines, bands), LiveOf(lines, bands, shownUnit(in.unit))
	return result, true
}

// told says in words what a line shows, and how many runs there are around it.
func (c courseChart) told(one Line, runs int) string {
	in := displayOf(c.unit, Lowest(one.Points), Highest(one.Points))
	write := func(value float64) string { return c.written(value * in.factor) }
	text := fmt.Sprintf("%s (block %d): from %s to %s", one.Series.Name, one.Block, write(Lowest(one.Points)), withUnit(write(Highest(one.Points)), in.unit))
	if one.Around != nil {
		all := extremes(one.Around)
		text += fmt.Sprintf(", of %s from %s to %s", prose.Counted(runs, "run"), write(all.Low), withUnit(write(all.High), in.unit))
	}
	return text + ". "
}

// responseTimes are the means of what worked, in as many stretches as a chart
// can show.
func responseTimes(own *payload.Payload, transaction string, start time.Time) []PointX {
	if start.IsZero() {
		return nil
	}
	width, per := stretchesOf(own)
	buckets := bucketsOf(own, transaction)
	stretches := map[int64]*stretch{}
	for _, index := range slices.Sorted(maps.Keys(buckets)) {
		group := index / per
		if stretches[group] == nil {
			stretches[group] = &stretch{Extent: Extent{math.Inf(1), math.Inf(-1)}}
		}
		stretches[group].add(buckets[index])
	}
	points := make([]PointX, 0, len(stretches))
	for _, group := range slices.Sorted(maps.Keys(stretches)) {
		one := stretches[group]
		middle := time.Unix(0, 0).Add(time.Duration(group)*width + width/2)
		points = append(points, PointX{minutes(start, middle), one.mean(), one.Extent})
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
	Extent
}

func (s *stretch) mean() float64 { return s.sum / s.count }

func (s *stretch) add(part stretch) {
	s.sum, s.count = s.sum+part.sum, s.count+part.count
	s.Extent = s.With(Extent{part.mean(), part.mean()})
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
func batchesOf(run *v1alpha1.PerfRun) []Band {
	var batches []Band
	start := timeOf(run.Status.Timings.LoadStart)
	for _, load := range run.Spec.Scenario.Loads {
		for _, status := range run.Status.Loads {
			if status.Name == load.Name && kinds.IsBatch(load) && status.StartTime != nil && status.FinishTime != nil {
				batches = append(batches, Band{load.Name, minutes(start, status.StartTime.Time), minutes(start, status.FinishTime.Time)})
			}
		}
	}
	return batches
}

// warmUpOf a run, if it has any.
func warmUpOf(run *v1alpha1.PerfRun) []Band {
	if warmUp := run.Spec.Measurement.WarmUpOrDefault(); warmUp > 0 {
		return []Band{{"warm-up", 0, warmUp.Minutes()}}
	}
	return nil
}
