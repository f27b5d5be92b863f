// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/internal/text/prose"
)

// mostPlaces of a center are beyond what anything measures.
const mostPlaces = 12

// rounded is a number as it is printed.
func rounded(value float64, places int) float64 {
	printed, err := strconv.ParseFloat(strconv.FormatFloat(value, 'f', places, 64), 64)
	if err != nil {
		return value
	}
	return printed
}

// dash stands where there is no number.
const dash = "–"

// minus is as wide as a digit, so that columns of deltas line up.
const minus = "−"

// withMinus writes the negative numbers of a sentence, which others may have made, as the
// page does. A hyphen within a name stays.
func withMinus(sentence string) string { return hyphened.ReplaceAllString(sentence, "$1"+minus+"$2") }

var hyphened = regexp.MustCompile(`(^|[\s(])-(\d)`)

// space keeps a number and its unit on one line.
const space = "\u00a0"

// significant is how many digits of an uncertainty are shown: one is too few to
// compare two intervals, three are noise.
const significant = 2

// alone is how many digits a number has whose uncertainty is unknown.
const alone = 4

// decimals is how many places of a number are worth showing, given the half
// width of its interval; where that is unknown, given the number itself.
func decimals(value, halfWidth float64) int {
	digits, of := significant, math.Abs(halfWidth)
	if math.IsNaN(of) || math.IsInf(of, 0) || of == 0 {
		digits, of = alone, math.Abs(value)
	}
	if of == 0 || math.IsNaN(of) || math.IsInf(of, 0) {
		return 0
	}
	return min(max(digits-1-int(math.Floor(math.Log10(of))), 0), mostPlaces)
}

// firstPlace is that of the first digit of a number below 1 that is not zero.
func firstPlace(value float64) int {
	return min(max(-int(math.Floor(math.Log10(math.Abs(value)))), 0), mostPlaces)
}

// fixed writes a number with that many places.
func fixed(value float64, places int) string {
	switch {
	case math.IsNaN(value):
		return dash
	case math.IsInf(value, 1):
		return "∞"
	case math.IsInf(value, -1):
		return minus + "∞"
	}
	text := strconv.FormatFloat(value, 'f', places, 64)
	if number, isNegative := strings.CutPrefix(text, "-"); isNegative {
		if strings.Trim(number, "0.") == "" {
			return number
		}
		return minus + number
	}
	return text
}

// rough writes a number whose uncertainty is unknown; one that is whole, without a point.
func rough(value float64) string {
	if isWhole(value) {
		return fixed(value, 0)
	}
	return fixed(value, decimals(value, math.NaN()))
}

// signed writes a delta: its sign is always there, except for none.
func signed(value float64, places int) string {
	text := fixed(value, places)
	if value > 0 && strings.Trim(text, "0.") != "" {
		return "+" + text
	}
	return text
}

// signedInterval writes the ends of a delta's interval.
func signedInterval(low, high float64, places int) string {
	if math.IsNaN(low) {
		return dash
	}
	return signed(low, places) + " to " + signed(high, places)
}

// whole writes a count.
func whole[N int | int32 | int64](count N) string { return strconv.FormatInt(int64(count), 10) }

func probability(p float64) string {
	switch {
	case math.IsNaN(p):
		return dash
	case p < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// plain writes a number that a person chose.
func plain(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// clock writes a duration as hh:mm:ss, rounded to the second.
func clock(duration time.Duration) string {
	seconds := int64(math.Round(duration.Seconds()))
	sign := ""
	if seconds < 0 {
		sign, seconds = minus, -seconds
	}
	return fmt.Sprintf("%s%02d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
}

// lasting writes about how long something takes, as people say it.
func lasting(duration time.Duration) string {
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

func clockOfSeconds(seconds float64) string {
	if math.IsNaN(seconds) || math.IsInf(seconds, 0) {
		return dash
	}
	return clock(time.Duration(seconds * float64(time.Second)))
}

// moment writes a time, in UTC.
func moment(at time.Time) string {
	if at.IsZero() {
		return dash
	}
	return at.UTC().Format("2006-01-02 15:04:05")
}

// isWhole, but for what a mean of equal numbers may be off.
func isWhole(value float64) bool { return math.Abs(value-math.Round(value)) <= 1e-9*math.Abs(value) }
