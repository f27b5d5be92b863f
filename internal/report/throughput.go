// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/payload"
)

// What a load got done over a run, as parts of the names of courses.
const (
	doneCourse   = "transactions"
	failedCourse = "failed"
)

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
	return under.rates(load, doneCourse, metric.UnitPerSecond, chart{
		Title: "Transactions of " + load + " over a typical run, 1/s",
		Alt:   fmt.Sprintf("Successful transactions of %s per second under %s", load, under.Name),
	})
}

// failures show which share of a load's transactions failed, where any did.
func failures(_ *record, under *scenario, load string) (chart, bool) {
	if !under.failed(load) {
		return chart{}, false
	}
	return under.rates(load, failedCourse, metric.UnitPercent, chart{
		Title: "Failed transactions of " + load + " over a typical run, %",
		Alt:   fmt.Sprintf("Share of failed transactions of %s under %s", load, under.Name),
	})
}

// rates over the run that is typical for the load's first transaction.
func (s *scenario) rates(load, of, unit string, result chart) (chart, bool) {
	transactions := s.transactions(load)
	if len(transactions) == 0 || len(s.arms) > mostLines {
		return chart{}, false
	}
	result.Alt += fmt.Sprintf(" over the run with the middle average of %s of each arm. ", transactions[0])
	return courseChart{metric.Name(load, of), metric.Name(load, transactions[0], metric.Average), unit, rough}.overRun(s, result)
}

// failed says whether any transaction of a load failed in any run that has raw results.
func (s *scenario) failed(load string) bool {
	return slices.ContainsFunc(s.runs, func(run *v1alpha1.PerfRun) bool {
		trace := s.traces[run.Name]
		return trace != nil && slices.ContainsFunc(trace.courses[metric.Name(load, failedCourse)], func(at point) bool { return at.high > 0 })
	})
}

// tally of transactions in a stretch of time.
type tally struct{ done, failed float64 }

// takeRates takes how much of a load worked, and which share of it failed. A stretch
// counts for as long as the load was on in it.
func (t *Trace) takeRates(load string, own *payload.Payload, start time.Time) {
	if start.IsZero() {
		return
	}
	width, per := stretchesOf(own)
	buckets := talliesOf(own)
	stretches := map[int64]tally{}
	for index, one := range buckets {
		sum := stretches[index/per]
		stretches[index/per] = tally{sum.done + one.done, sum.failed + one.failed}
	}
	for _, group := range slices.Sorted(maps.Keys(stretches)) {
		one := stretches[group]
		from := time.Unix(0, 0).Add(time.Duration(group) * width)
		to := from.Add(width)
		at := minutes(start, from.Add(width/2))
		if lasts := earlier(to, own.End).Sub(later(from, own.Start)).Seconds(); lasts > width.Seconds()/2 {
			t.add(metric.Name(load, doneCourse), single(at, one.done/lasts))
		}
		t.add(metric.Name(load, failedCourse), single(at, 100*one.failed/(one.done+one.failed)))
	}
}

func (t *Trace) add(course string, at point) { t.courses[course] = append(t.courses[course], at) }

// talliesOf all transactions of a load, by bucket.
func talliesOf(own *payload.Payload) map[int64]tally {
	buckets := map[int64]tally{}
	for _, series := range own.Series {
		if series.Request != "" || series.Transaction == "" {
			continue
		}
		for _, bucket := range series.Buckets {
			sum := buckets[bucket.Index]
			if series.Outcome == payload.OK {
				sum.done += float64(bucket.Count)
			} else {
				sum.failed += float64(bucket.Count)
			}
			buckets[bucket.Index] = sum
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
