// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// missing as a default means that the field is required.
const missing = -1

// invalid is a value that k6 rejects.
type invalid struct{ reason string }

func (i *invalid) Error() string { return i.reason }

func invalidf(format string, args ...any) error { return &invalid{fmt.Sprintf(format, args...)} }

func errComputed(place string) error { return fmt.Errorf("%s %w", place, ErrComputed) }

// value of a field; false if it is missing or unknown.
func (r *reader) value(name string, required bool) (any, string, bool) {
	place := strings.TrimPrefix(r.place+"."+name, ".")
	value := r.from[strings.ToLower(name)]
	switch value.(type) {
	case nil:
		if required {
			r.fail(invalidf("%s is missing: add it", place))
		}
		return nil, place, false
	case unknown:
		r.fail(errComputed(place))
		return nil, place, false
	default:
		return value, place, true
	}
}

// integer returns an integer, which may be a string.
func (r *reader) integer(name string, preset, least int64) int64 {
	value, place, given := r.value(name, preset == missing)
	if !given || value == "" {
		return preset
	}
	number, err := wholeNumber(value)
	if err != nil || number < least {
		r.fail(invalidf("%s is %v: write a whole number of %d or more", place, value, least))
	}
	return number
}

func wholeNumber(value any) (int64, error) {
	switch value := value.(type) {
	case float64:
		if value != float64(int64(value)) {
			return 0, strconv.ErrSyntax
		}
		return int64(value), nil
	case string:
		return strconv.ParseInt(value, 10, 64)
	default:
		return 0, strconv.ErrSyntax
	}
}

// duration returns a duration: a string, or a number of milliseconds.
func (r *reader) duration(name string, preset, least time.Duration) time.Duration {
	value, place, given := r.value(name, preset == missing)
	if !given {
		return max(0, preset)
	}
	var length time.Duration
	var err error
	switch value := value.(type) {
	case float64:
		length, err = milliseconds(value)
	case string:
		length, err = Duration(value)
	default:
		err = noDuration(fmt.Sprint(value))
	}
	if err != nil {
		r.fail(invalidf("%s: %v", place, err))
	} else if length < least {
		r.fail(invalidf("%s is %s: write %s or more", place, length, max(least, time.Millisecond)))
	}
	return length
}

// stages of a scenario.
func (r *reader) stages() []*reader {
	value, place, given := r.value("stages", true)
	if !given {
		return nil
	}
	list, plain := value.([]any)
	if !plain || len(list) == 0 {
		r.fail(invalidf("%s is not a list of stages: write at least one, for example {duration: '5m', target: 10}", place))
		return nil
	}
	stages := make([]*reader, 0, len(list))
	for i, written := range list {
		at := fmt.Sprintf("%s[%d]", place, i)
		fields, plain := written.(object)
		if !plain {
			r.fail(errComputed(at))
			return nil
		}
		stages = append(stages, &reader{from: fields.lower(), place: at})
	}
	return stages
}
