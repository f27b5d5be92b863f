// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/payload"
)

// What a load got done over a run, as parts of the names of courses.
const (
	doneCourse   = "transactions"
	usersCourse  = "users"
	failedCourse = "failed"
)

// rateName is that of a course of a load as a whole, which no transaction has.
func rateName(load, of string) string { return load + "\x00" + of }

// timedLoads are those of a scenario that go on for a time.
func timedLoads(_ *record, under *scenario) []string {
	var names []string
	for _, load := range under.Loads {
		if !kinds.IsBatch(load) {
			names = append(names, load.Name)
		}
	}
	return names
}

// throughput shows how many transactions of a load worked per second.
func throughput(_ *record, under *scenario, load string) (chart, bool) {
	return under.rates(load, doneCourse, "Transactions", metric.UnitPerSecond,
		fmt.Sprintf("Successful transactions of %s per second under %s", load, under.Name))
}

// failures show which share of a load's transactions failed, where any did.
func failures(_ *record, under *scenario, load string) (chart, bool) {
	if _, highest := under.courseExtent(rateName(load, failedCourse)); highest == 0 {
		return chart{}, false
	}
	return under.rates(load, failedCourse, "Failed transactions", metric.UnitPercent,
		fmt.Sprintf("Share of failed transactions of %s under %s", load, under.Name))
}

// users shows how many there were, where that changed.
func users(_ *record, under *scenario, load string) (chart, bool) {
	const steady = 0.75
	if lowest, highest := under.courseExtent(rateName(load, usersCourse)); lowest >= steady*highest {
		return chart{}, false
	}
	return under.rates(load, usersCourse, "Users", metric.UnitCount, fmt.Sprintf("Users of %s under %s", load, under.Name))
}

// courseExtent are the lowest and the highest of all points of a course, in all runs.
func (s *scenario) courseExtent(course string) (lowest, highest float64) {
	lowest = math.Inf(1)
	for _, run := range s.runs {
		if trace := s.traces[run.Name]; trace != nil {
			for _, at := range trace.courses[course] {
				lowest, highest = math.Min(lowest, at.Value), math.Max(highest, at.Value)
			}
		}
	}
	return lowest, highest
}

// rates over the run that is typical for the load's first transaction.
func (s *scenario) rates(load, of, what, unit, alt string) (chart, bool) {
	transactions := s.transactions(load)
	if len(transactions) == 0 || len(s.arms) > mostLines {
		return chart{}, false
	}
	alt += fmt.Sprintf(" over the run with the middle average of %s of each arm. ", transactions[0])
	title := fmt.Sprintf("%s of %s over a typical run", what, load)
	return courseChart{rateName(load, of), metric.Name(load, transactions[0], metric.Average), title, unit, rough}.overRun(s, alt)
}

// tally of transactions and users in a stretch of time.
type tally struct{ done, failed, userSeconds float64 }

func (t tally) with(other tally) tally {
	return tally{t.done + other.done, t.failed + other.failed, t.userSeconds + other.userSeconds}
}

// usersWidth is the shortest stretch that users are told of: they are counted once a
// second, now and then a little early or late.
const usersWidth = 8 * time.Second

// takeRates takes how much of a load worked, which share of it failed, and how many
// users there were. A stretch counts for as long as the load was on in it; of users,
// only if it was on throughout.
func (t *Trace) takeRates(load string, own *payload.Payload, start time.Time) {
	if start.IsZero() {
		return
	}
	width, per := stretchesOf(own)
	stretches := map[int64]tally{}
	for index, one := range talliesOf(own) {
		stretches[index/per] = stretches[index/per].with(one)
	}
	for _, group := range slices.Sorted(maps.Keys(stretches)) {
		one := stretches[group]
		from := time.Unix(0, 0).Add(time.Duration(group) * width)
		at := minutes(start, from.Add(width/2))
		lasts := earlier(from.Add(width), own.End).Sub(later(from, own.Start)).Seconds()
		if lasts > width.Seconds()/2 {
			t.add(rateName(load, doneCourse), Single(at, one.done/lasts))
		}
		if width >= usersWidth && lasts == width.Seconds() {
			t.add(rateName(load, usersCourse), Single(at, one.userSeconds/lasts))
		}
		if all := one.done + one.failed; all > 0 {
			t.add(rateName(load, failedCourse), Single(at, 100*one.failed/all))
		}
	}
}

func (t *Trace) add(course string, at PointX) { t.courses[course] = append(t.courses[course], at) }

// talliesOf all transactions and users of a load, by bucket.
func talliesOf(own *payload.Payload) map[int64]tally {
	buckets := map[int64]tally{}
	for _, series := range own.Series {
		if series.Request != "" || series.Transaction == "" {
			continue
		}
		for _, bucket := range series.Buckets {
			one := tally{done: float64(bucket.Count)}
			if series.Outcome != payload.OK {
				one = tally{failed: float64(bucket.Count)}
			}
			buckets[bucket.Index] = buckets[bucket.Index].with(one)
		}
	}
	for _, counter := range own.Counters {
		if counter.Name == payload.UserSeconds {
			for _, bucket := range counter.Buckets {
				buckets[bucket.Index] = buckets[bucket.Index].with(tally{userSeconds: bucket.Sum})
			}
		}
	}
	return buckets
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
