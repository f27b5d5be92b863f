// SPDX-License-Identifier: Apache-2.0

// Package digits formats numbers with their significant digits.
package digits

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/internal/text/prose"
)

// MaxPlaces of a center exceed the precision of any measurement.
const MaxPlaces = 12

// Round rounds a number as it is printed.
func Round(value float64, places int) float64 {
	printed, err := strconv.ParseFloat(strconv.FormatFloat(value, 'f', places, 64), 64)
	if err != nil {
		return value
	}
	return printed
}

// Dash replaces a missing number.
const Dash = "–"

// Minus is as wide as a digit, so that columns of deltas line up.
const Minus = "−"

// WithMinus replaces the hyphens of negative numbers in a sentence. A hyphen within a name stays.
func WithMinus(sentence string) string { return hyphened.ReplaceAllString(sentence, "$1"+Minus+"$2") }

var hyphened = regexp.MustCompile(`(^|[\s(])-(\d)`)

// Space keeps a number and its unit on one line.
const Space = "\u00a0"

// significant is the number of digits shown of an uncertainty: one is too few to compare two
// intervals, three are noise.
const significant = 2

// alone is the number of digits of a number with unknown uncertainty.
const alone = 4

// Decimals returns the number of places to show, given the half width of the interval or, if that
// is unknown, the number itself.
func Decimals(value, halfWidth float64) int {
	digits, of := significant, math.Abs(halfWidth)
	if math.IsNaN(of) || math.IsInf(of, 0) || of == 0 {
		digits, of = alone, math.Abs(value)
	}
	if of == 0 || math.IsNaN(of) || math.IsInf(of, 0) {
		return 0
	}
	return min(max(digits-1-int(math.Floor(math.Log10(of))), 0), MaxPlaces)
}

// FirstPlace returns the place of the first nonzero digit of a number below 1.
func FirstPlace(value float64) int {
	return min(max(-int(math.Floor(math.Log10(math.Abs(value)))), 0), MaxPlaces)
}

// Fixed formats a number with this many places.
func Fixed(value float64, places int) string {
	switch {
	case math.IsNaN(value):
		return Dash
	case math.IsInf(value, 1):
		return "∞"
	case math.IsInf(value, -1):
		return Minus + "∞"
	}
	text := strconv.FormatFloat(value, 'f', places, 64)
	if number, isNegative := strings.CutPrefix(text, "-"); isNegative {
		if strings.Trim(number, "0.") == "" {
			return number
		}
		return Minus + number
	}
	return text
}

// Rough formats a number with unknown uncertainty; an integer without a point.
func Rough(value float64) string {
	if IsInteger(value) {
		return Fixed(value, 0)
	}
	return Fixed(value, Decimals(value, math.NaN()))
}

// Signed formats a delta, with a sign unless it is zero.
func Signed(value float64, places int) string {
	text := Fixed(value, places)
	if value > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return text
}

// Interval formats the ends of a delta's interval.
func Interval(low, high float64, places int) string {
	if math.IsNaN(low) {
		return Dash
	}
	return Signed(low, places) + " to " + Signed(high, places)
}

// Count formats a count.
func Count[N int | int32 | int64](count N) string { return strconv.FormatInt(int64(count), 10) }

// PValue formats a probability.
func PValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return Dash
	case p < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// Exact formats a number that a user chose.
func Exact(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// Clock formats a duration as hh:mm:ss, rounded to the second.
func Clock(duration time.Duration) string {
	seconds := int64(math.Round(duration.Seconds()))
	sign := ""
	if seconds < 0 {
		sign, seconds = Minus, -seconds
	}
	return fmt.Sprintf("%s%02d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
}

// Approximate formats a duration approximately, in words.
func Approximate(duration time.Duration) string {
	for _, unit := range []struct {
		from, of time.Duration
		noun     string
	}{{48 * time.Hour, 24 * time.Hour, "day"}, {2 * time.Hour, time.Hour, "hour"}, {2 * time.Minute, time.Minute, "minute"}} {
		if duration >= unit.from {
			return prose.Counted(int(math.Round(float64(duration)/float64(unit.of))), unit.noun)
		}
	}
	return prose.Counted(int(math.Round(duration.Seconds())), "second")
}

// ClockSeconds formats seconds as hh:mm:ss.
func ClockSeconds(seconds float64) string {
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return Dash
	}
	return Clock(time.Duration(seconds * float64(time.Second)))
}

// Time formats a time, in UTC.
func Time(at time.Time) string {
	if at.IsZero() {
		return Dash
	}
	return at.UTC().Format("2006-01-02 15:04:05")
}

// IsInteger reports whether a number is an integer, up to rounding errors of a mean.
func IsInteger(value float64) bool { return math.Abs(value-math.Round(value)) <= 1e-9*math.Abs(value) }
