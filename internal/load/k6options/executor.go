// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// executor describes one of k6's executors.
type executor struct {
	// fields of the executor, in lower case.
	fields []string
	length func(*reader) time.Duration
	users  func(*reader) int64
}

// common are the fields of every executor.
var common = []string{"executor", "starttime", "gracefulstop", "env", "exec", "tags", "options"}

// executors by name.
var executors = map[string]executor{
	"constant-vus":          {[]string{"vus", "duration"}, (*reader).wholeDuration, (*reader).constantUsers},
	"ramping-vus":           {[]string{"startvus", "stages", "gracefulrampdown"}, (*reader).stageDurations, (*reader).rampedUsers},
	"shared-iterations":     {[]string{"vus", "iterations", "maxduration"}, (*reader).untilIterated, (*reader).sharingUsers},
	"per-vu-iterations":     {[]string{"vus", "iterations", "maxduration"}, (*reader).untilIterated, (*reader).iteratingUsers},
	"constant-arrival-rate": {[]string{"rate", "timeunit", "duration", "preallocatedvus", "maxvus"}, (*reader).constantArrivals, (*reader).allocatedUsers},
	"ramping-arrival-rate":  {[]string{"startrate", "timeunit", "stages", "preallocatedvus", "maxvus"}, (*reader).rampedArrivals, (*reader).allocatedUsers},
}

// scenario is a k6 scenario.
type scenario struct {
	fields object
	place  string
	err    error
}

func newScenario(written any, place string) scenario {
	fields, plain := written.(object)
	if !plain {
		return scenario{err: errComputed(place)}
	}
	return scenario{fields: fields.lower(), place: place}
}

// executor of the scenario.
func (s scenario) executor() (executor, error) {
	if s.err != nil {
		return executor{}, s.err
	}
	name, plain := s.fields["executor"].(string)
	if !plain && s.fields.has("executor") {
		return executor{}, errComputed(s.place + ".executor")
	}
	known, found := executors[name]
	if !found {
		return executor{}, invalidf("%s.executor is %q: write one that k6 2.2 supports (%s)", s.place, name, strings.Join(slices.Sorted(maps.Keys(executors)), ", "))
	}
	return known, nil
}

// function that the scenario runs; empty if unknown.
func (s scenario) function() string {
	switch name := s.fields["exec"].(type) {
	case nil:
		return "default"
	case string:
		return name
	default:
		return ""
	}
}

// end returns when the scenario ends, from the start of the test.
func (s scenario) end() (time.Duration, error) {
	known, err := s.executor()
	if err != nil {
		return 0, err
	}
	read := &reader{from: s.fields, place: s.place}
	start := read.duration("startTime", 0, 0)
	read.duration("gracefulStop", 0, 0)
	end := start + known.length(read)
	if read.err == nil && end > longest {
		return 0, fmt.Errorf("%s takes longer than a year", s.place)
	}
	return end, read.err
}

func (s scenario) users() (int64, error) {
	known, err := s.executor()
	if err != nil {
		return 0, err
	}
	read := &reader{from: s.fields, place: s.place}
	users := known.users(read)
	return users, read.err
}

var scenarioName = regexp.MustCompile(`^[0-9a-zA-Z_-]+$`)

// check returns why k6 rejects the scenario, or what is unknown.
func (s scenario) check(name string) error {
	known, err := s.executor()
	if err != nil {
		return err
	}
	if !scenarioName.MatchString(name) {
		return invalidf("scenario %q has an invalid name: use only letters, digits, '-' and '_'", name)
	}
	for field := range s.fields {
		if !slices.Contains(common, field) && !slices.Contains(known.fields, field) {
			return invalidf("%s has a field %q, which its executor %s does not support: correct it, or remove it", s.place, field, s.fields["executor"])
		}
	}
	_, length := s.end()
	_, users := s.users()
	return errors.Join(length, users)
}

// reader reads a scenario's fields, and keeps the first error.
type reader struct {
	from  object
	place string
	err   error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// minimumDuration is k6's minimum.
const minimumDuration = time.Second

func (r *reader) wholeDuration() time.Duration {
	return r.duration("duration", missing, minimumDuration)
}

func (r *reader) stageDurations() time.Duration {
	total := time.Duration(0)
	for _, stage := range r.stages() {
		total += stage.duration("duration", missing, 0)
		r.fail(stage.err)
		if total > longest {
			r.fail(fmt.Errorf("the stages of %s together take longer than a year", r.place))
			return 0
		}
	}
	return total
}

func (r *reader) untilIterated() time.Duration {
	r.duration("maxDuration", 10*time.Minute, minimumDuration)
	r.fail(ErrIterations)
	return 0
}

func (r *reader) constantArrivals() time.Duration {
	r.integer("rate", missing, 1)
	r.duration("timeUnit", time.Second, 1)
	return r.wholeDuration()
}

func (r *reader) rampedArrivals() time.Duration {
	r.integer("startRate", 0, 0)
	r.duration("timeUnit", time.Second, 1)
	return r.stageDurations()
}

func (r *reader) constantUsers() int64 { return r.integer("vus", 1, 1) }

func (r *reader) rampedUsers() int64 {
	most := r.integer("startVUs", 1, 0)
	for _, stage := range r.stages() {
		most = max(most, stage.integer("target", missing, 0))
		r.fail(stage.err)
	}
	if r.err == nil && most == 0 {
		r.fail(invalidf("%s has no users: set a target above 0 in one of its stages", r.place))
	}
	return most
}

func (r *reader) iteratingUsers() int64 {
	r.integer("iterations", 1, 1)
	return r.integer("vus", 1, 1)
}

func (r *reader) sharingUsers() int64 {
	users := r.integer("vus", 1, 1)
	if iterations := r.integer("iterations", 1, 1); r.err == nil && iterations < users {
		r.fail(invalidf("%s has %d iterations for %d users, and k6 needs at least one for each: write more iterations, or fewer vus", r.place, iterations, users))
	}
	return users
}

func (r *reader) allocatedUsers() int64 {
	allocated := r.integer("preAllocatedVUs", missing, 0)
	if !r.from.has("maxvus") {
		return allocated
	}
	most := r.integer("maxVUs", missing, 0)
	if r.err == nil && most < allocated {
		r.fail(invalidf("%s has fewer maxVUs (%d) than preAllocatedVUs (%d): raise maxVUs", r.place, most, allocated))
	}
	return most
}
