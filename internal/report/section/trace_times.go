// SPDX-License-Identifier: Apache-2.0

package section

import (
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/payload"
)

// averageCourse averages a course into as many points as a chart can show.
func averageCourse(course results.Course, start, end time.Time) []chart.Point {
	var inside []chart.Point
	for _, one := range course.Points {
		if !start.IsZero() && !one.At.Before(start) && (end.IsZero() || !one.At.After(end)) {
			inside = append(inside, chart.SinglePoint(minutes(start, one.At), one.Value))
		}
	}
	size := max(1, (len(inside)+maxPoints-1)/maxPoints)
	var points []chart.Point
	for part := range slices.Chunk(inside, size) {
		sum := chart.Point{Extent: part[0].Extent}
		for _, one := range part {
			sum.Extent = sum.With(one.Extent)
			sum.Minutes += one.Minutes / float64(len(part))
			sum.Value += one.Value / float64(len(part))
		}
		points = append(points, sum)
	}
	return points
}

func earlierTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// maxPoints of a line: a chart of this width can't show more.
const maxPoints = 60

// responseTimes are the means of successful samples, in as many periods as a chart can show.
func responseTimes(own *payload.Payload, transaction string, start time.Time) []chart.Point {
	if start.IsZero() {
		return nil
	}
	width, per := stretchWidth(own)
	buckets := successBuckets(own, transaction)
	stretches := map[int64]*stretch{}
	for _, index := range slices.Sorted(maps.Keys(buckets)) {
		group := index / per
		if stretches[group] == nil {
			stretches[group] = &stretch{Extent: chart.Extent{Low: math.Inf(1), High: math.Inf(-1)}}
		}
		stretches[group].add(buckets[index])
	}
	points := make([]chart.Point, 0, len(stretches))
	for _, group := range slices.Sorted(maps.Keys(stretches)) {
		one := stretches[group]
		middle := time.Unix(0, 0).Add(time.Duration(group)*width + width/2)
		points = append(points, chart.Point{Minutes: minutes(start, middle), Value: one.mean(), Extent: one.Extent})
	}
	return points
}

// stretchWidth divides a load into as many periods as a chart can show: the length of each, and
// its number of buckets.
func stretchWidth(own *payload.Payload) (width time.Duration, per int64) {
	per = max(int64(math.Ceil(own.End.Sub(own.Start).Seconds()/float64(own.BucketSeconds)/maxPoints)), 1)
	return time.Duration(per) * time.Duration(own.BucketSeconds) * time.Second, per
}

// stretch of a run: the sum and the number of response times, in milliseconds, and the extremes
// of its parts' means.
type stretch struct {
	sum, count float64
	chart.Extent
}

func (s *stretch) mean() float64 { return s.sum / s.count }

func (s *stretch) add(part stretch) {
	s.sum, s.count = s.sum+part.sum, s.count+part.count
	s.Extent = s.With(chart.Extent{Low: part.mean(), High: part.mean()})
}

// successBuckets are the response times of a transaction's successful samples.
func successBuckets(own *payload.Payload, transaction string) map[int64]stretch {
	buckets := map[int64]stretch{}
	for bucket := range successes(own, transaction) {
		sum := buckets[bucket.Index]
		sum.sum, sum.count = sum.sum+milliseconds(bucket.Sum), sum.count+float64(bucket.Count)
		buckets[bucket.Index] = sum
	}
	return buckets
}

// successes are the buckets of a transaction's successful samples, over all scenarios and
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
