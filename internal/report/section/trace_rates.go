// SPDX-License-Identifier: Apache-2.0

package section

import (
	"maps"
	"slices"
	"time"

	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/payload"
)

// Courses of a load's throughput over a run, as parts of their names.
const (
	doneCourse   = "transactions"
	usersCourse  = "users"
	failedCourse = "failed"
)

// rateCourse is the name of a course of a whole load, which no transaction can have.
func rateCourse(load, of string) string { return load + "\x00" + of }

// tally counts transactions and users in a period.
type tally struct{ done, failed, userSeconds float64 }

func (t tally) plus(other tally) tally {
	return tally{t.done + other.done, t.failed + other.failed, t.userSeconds + other.userSeconds}
}

// usersWidth is the shortest period for which users are shown: they are counted once a second,
// with some jitter.
const usersWidth = 8 * time.Second

// addRates adds the rate of successful transactions, the share of failed ones, and the number of
// users. A period counts in proportion to the load's time in it; for users, only if the load ran
// throughout.
func (t *Trace) addRates(load string, own *payload.Payload, start time.Time) {
	if start.IsZero() {
		return
	}
	width, per := stretchWidth(own)
	stretches := map[int64]tally{}
	for index, one := range newTallies(own) {
		stretches[index/per] = stretches[index/per].plus(one)
	}
	for _, group := range slices.Sorted(maps.Keys(stretches)) {
		one := stretches[group]
		from := time.Unix(0, 0).Add(time.Duration(group) * width)
		at := minutes(start, from.Add(width/2))
		lasts := earlierTime(from.Add(width), own.End).Sub(laterTime(from, own.Start)).Seconds()
		if lasts > width.Seconds()/2 {
			t.add(rateCourse(load, doneCourse), chart.SinglePoint(at, one.done/lasts))
		}
		if width >= usersWidth && lasts == width.Seconds() {
			t.add(rateCourse(load, usersCourse), chart.SinglePoint(at, one.userSeconds/lasts))
		}
		if all := one.done + one.failed; all > 0 {
			t.add(rateCourse(load, failedCourse), chart.SinglePoint(at, 100*one.failed/all))
		}
	}
}

func (t *Trace) add(course string, at chart.Point) { t.courses[course] = append(t.courses[course], at) }

// newTallies counts all transactions and users of a load, by bucket.
func newTallies(own *payload.Payload) map[int64]tally {
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
			buckets[bucket.Index] = buckets[bucket.Index].plus(one)
		}
	}
	for _, counter := range own.Counters {
		if counter.Name == payload.UserSeconds {
			for _, bucket := range counter.Buckets {
				buckets[bucket.Index] = buckets[bucket.Index].plus(tally{userSeconds: bucket.Sum})
			}
		}
	}
	return buckets
}
