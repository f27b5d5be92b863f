// SPDX-License-Identifier: Apache-2.0

package recurrence

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
)

// Many is the limit of counted past times.
const Many = 101

// Times are the times of a schedule.
type Times struct {
	schedule cron.Schedule
	zone     *time.Location
}

var (
	errZoneWithin = errors.New("the schedule contains a time zone: write it into timeZone instead")
	errEvery      = errors.New("@every counts from the last time, not by the clock: write minutes, for example */30 * * * *")
	errNever      = errors.New("this time never occurs: check the day and the month")
	errLocal      = errors.New(`"Local" is the operator's own time zone: write the name of a time zone, for example Europe/Berlin, or UTC`)
)

// NewTimes parses a schedule in cron format; an empty zone is UTC.
func NewTimes(schedule, zone string) (*Times, error) {
	location, err := loadZone(zone)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(schedule, "TZ="):
		return nil, errZoneWithin
	case strings.HasPrefix(schedule, "@every"):
		return nil, errEvery
	}
	parsed, err := cron.ParseStandard(schedule)
	if err != nil {
		return nil, fmt.Errorf("%w: write minute, hour, day of the month, month and day of the week, for example 0 2 * * 1-5, or @daily", err)
	}
	times := &Times{schedule: parsed, zone: location}
	// The library finds the next time within five years, or there is none.
	if times.After(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return nil, errNever
	}
	return times, nil
}

func loadZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, "local") {
		return nil, errLocal
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%w: write the name of a time zone, for example Europe/Berlin, or UTC", err)
	}
	return location, nil
}

// scheduleTimes returns the times of a schedule; nil if it has none.
func scheduleTimes(spec *v1alpha1.PerfScheduleSpec) (*Times, error) {
	if spec.Schedule == "" {
		return nil, nil
	}
	times, err := NewTimes(spec.Schedule, spec.TimeZone)
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", spec.Schedule, err)
	}
	return times, nil
}

// Check validates the times of a schedule.
func Check(spec *v1alpha1.PerfScheduleSpec, path *field.Path) field.ErrorList {
	if spec.Schedule == "" {
		return nil
	}
	if _, err := loadZone(spec.TimeZone); err != nil {
		return field.ErrorList{field.Invalid(path.Child("timeZone"), spec.TimeZone, err.Error())}
	}
	if _, err := NewTimes(spec.Schedule, spec.TimeZone); err != nil {
		return field.ErrorList{field.Invalid(path.Child("schedule"), spec.Schedule, err.Error())}
	}
	return nil
}

// After returns the first time after another; zero if there is none.
func (t *Times) After(when time.Time) time.Time { return t.schedule.Next(when.In(t.zone)).UTC() }

// Passed returns the last time in (since, now], and the number of times in it, up to
// [Many]. It is zero if there is none.
func (t *Times) Passed(since, now time.Time) (last time.Time, count int) {
	for next := t.After(since); t.hasCome(next, now) && count < Many; next = t.After(next) {
		last, count = next, count+1
	}
	if count < Many {
		return last, count
	}
	// Search backwards from now: the interval may hold a year of minutes.
	for back := time.Hour; ; back *= 2 {
		first := t.After(latest(since, now.Add(-back)))
		if !t.hasCome(first, now) {
			continue
		}
		for next := first; t.hasCome(next, now); next = t.After(next) {
			last = next
		}
		return last, count
	}
}

// hasCome reports whether a time that After returned is not in the future.
func (*Times) hasCome(when, now time.Time) bool { return !when.IsZero() && !when.After(now) }
