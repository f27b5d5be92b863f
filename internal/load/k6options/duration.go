// SPDX-License-Identifier: Apache-2.0

package k6options

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/internal/planning/repair"
)

// longest exceeds the length of every run, and is short enough for sums of two.
const longest = 366 * 24 * time.Hour

// Duration parses a duration as k6 does: Go's notation with days, or a number of
// milliseconds.
func Duration(text string) (time.Duration, error) {
	if number, err := strconv.ParseFloat(text, 64); err == nil {
		return milliseconds(number)
	}
	days, rest, hasDays := strings.Cut(text, "d")
	if !hasDays {
		length, err := time.ParseDuration(text)
		return bounded(text, length, err)
	}
	whole, err := strconv.ParseInt(days, 10, 64)
	if err != nil || whole < 0 || whole > 365 {
		return 0, noDuration(text)
	}
	length := time.Duration(0)
	if rest != "" {
		length, err = time.ParseDuration(rest)
	}
	return bounded(text, time.Duration(whole)*24*time.Hour+length, err)
}

func bounded(text string, length time.Duration, err error) (time.Duration, error) {
	if err != nil || length < 0 || length > longest {
		return 0, noDuration(text)
	}
	return length, nil
}

func milliseconds(number float64) (time.Duration, error) {
	if !(number >= 0 && number <= float64(longest.Milliseconds())) {
		return 0, noDuration(strconv.FormatFloat(number, 'g', -1, 64))
	}
	return time.Duration(number * float64(time.Millisecond)), nil
}

func noDuration(text string) error {
	return invalidf("%q is not a duration of at most a year: write %s", text, cmp.Or(repair.Duration(text), "for example 30m"))
}
