// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Point is a value at a time.
type Point struct {
	At    time.Time
	Value float64
}

// Points are sorted by time, and each time occurs once. They are encoded as an array of numbers
//
//	[time, value, step, value, step, value, …]
//
// where time is in Unix milliseconds and each step is the milliseconds since the previous point.
// Values have five significant digits.
type Points []Point

// Times are encoded like Points, without values.
type Times []time.Time

// valueDigits is the number of significant digits of encoded values. The sources are not more
// precise.
const valueDigits = 5

// MarshalJSON writes the array that Points describes.
func (p Points) MarshalJSON() ([]byte, error) {
	row := []byte{'['}
	last := int64(0)
	for i, point := range p {
		if i > 0 {
			row = append(row, ',')
		}
		ms := point.At.UnixMilli()
		row = strconv.AppendInt(row, ms-last, 10)
		value, err := number(point.Value)
		if err != nil {
			return nil, err
		}
		row = append(append(row, ','), value...)
		last = ms
	}
	return append(row, ']'), nil
}

// number encodes a value as JSON, with valueDigits significant digits.
func number(value float64) ([]byte, error) {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', valueDigits, 64), 64)
	if err != nil {
		// The largest numbers overflow when they are rounded.
		rounded = value
	}
	return json.Marshal(rounded)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Points) UnmarshalJSON(text []byte) error {
	row, count := newPointReader(text)
	if count%2 != 0 {
		return fmt.Errorf("%d numbers are not pairs of time and value", count)
	}
	points := make(Points, 0, count/2)
	ms := int64(0)
	for range count / 2 {
		var err error
		if ms, err = row.time(ms, len(points) > 0); err != nil {
			return err
		}
		value, err := strconv.ParseFloat(row.next(), 64)
		if err != nil {
			return fmt.Errorf("the value is not a number: %w", err)
		}
		points = append(points, Point{At: time.UnixMilli(ms).UTC(), Value: value})
	}
	*p = points
	return nil
}

// MarshalJSON writes the times.
func (t Times) MarshalJSON() ([]byte, error) {
	row := make([]int64, len(t))
	last := int64(0)
	for i, at := range t {
		row[i] = at.UnixMilli() - last
		last = at.UnixMilli()
	}
	return json.Marshal(row)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Times) UnmarshalJSON(text []byte) error {
	row, count := newPointReader(text)
	times := make(Times, 0, count)
	ms := int64(0)
	for range count {
		var err error
		if ms, err = row.time(ms, len(times) > 0); err != nil {
			return err
		}
		times = append(times, time.UnixMilli(ms).UTC())
	}
	*t = times
	return nil
}

// pointReader is the unread rest of a JSON array of numbers. It reads one number at a time,
// because a generic decoder would hold all of them twice.
type pointReader struct{ text []byte }

// newPointReader returns a reader of an array, and the number of its elements. Text that is not
// an array counts as one invalid number.
func newPointReader(text []byte) (*pointReader, int) {
	inner := bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimPrefix(text, []byte("[")), []byte("]")))
	if len(inner) == 0 || string(text) == "null" {
		return &pointReader{}, 0
	}
	return &pointReader{inner}, bytes.Count(inner, []byte(",")) + 1
}

func (r *pointReader) next() string {
	number, rest, _ := bytes.Cut(r.text, []byte(","))
	r.text = rest
	return string(bytes.TrimSpace(number))
}

// time reads a step, and returns the sum of the step and the previous time.
func (r *pointReader) time(before int64, onwards bool) (int64, error) {
	step, err := strconv.ParseInt(r.next(), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the time is not a number: %w", err)
	}
	// Neither the step nor the sum overflows.
	if onwards && step < 0 || step > lastTime.UnixMilli() || step < firstTime.UnixMilli() || !isTime(time.UnixMilli(before+step)) {
		return 0, fmt.Errorf("invalid step of %d ms", step)
	}
	return before + step, nil
}

// sorted returns the points sorted by time, each time once. Of points with the same time, it
// keeps the first.
func (p Points) sorted() Points {
	slices.SortStableFunc(p, func(a, b Point) int { return a.At.Compare(b.At) })
	return slices.CompactFunc(p, func(a, b Point) bool { return a.At.Equal(b.At) })
}

// halved returns half as many points. Each is the mean of two consecutive points, at the time of
// the later one.
func (p Points) halved() Points {
	half := make(Points, 0, (len(p)+1)/2)
	for pair := range slices.Chunk(p, 2) {
		last := pair[len(pair)-1]
		if len(pair) == 2 {
			// Divide first: the sum of the largest numbers overflows.
			last.Value = pair[0].Value/2 + pair[1].Value/2
		}
		half = append(half, last)
	}
	return half
}
