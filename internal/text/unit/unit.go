// SPDX-License-Identifier: Apache-2.0

// Package unit converts units of time and memory, in the spellings of users and tools.
package unit

import "strings"

// known is a unit of time or memory. A factor of 0 means that the unit is not converted.
type known struct {
	// names of the unit; the first is canonical.
	names  []string
	isTime bool
	// factor to seconds or bytes.
	factor float64
}

// kB, MB, GB and TB are powers of 1000, as in the SI. KB means either 1000 or 1024 bytes, so it is
// not here.
var all = []known{
	{[]string{"ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"}, true, 1e-9},
	{[]string{"\u00b5s", "us", "usec", "usecs", "micros", "microsecond", "microseconds"}, true, 1e-6},
	{[]string{"ms", "msec", "msecs", "millis", "millisecond", "milliseconds"}, true, 1e-3},
	{[]string{"s", "sec", "secs", "second", "seconds"}, true, 1},
	{[]string{"min", "mins", "minute", "minutes"}, true, 60},
	{[]string{"h", "hr", "hrs", "hour", "hours"}, true, 3600},
	{[]string{"B", "byte", "bytes"}, false, 1},
	{[]string{"kB"}, false, 1e3},
	{[]string{"MB"}, false, 1e6},
	{[]string{"GB"}, false, 1e9},
	{[]string{"TB"}, false, 1e12},
	{[]string{"KiB", "Ki"}, false, 1 << 10},
	{[]string{"MiB", "Mi"}, false, 1 << 20},
	{[]string{"GiB", "Gi"}, false, 1 << 30},
	{[]string{"TiB", "Ti"}, false, 1 << 40},
	{[]string{"%", "percent", "pct"}, false, 0},
}

// byName maps names to units.
var byName = map[string]known{}

func init() {
	for _, one := range all {
		for _, name := range one.names {
			byName[name] = one
		}
	}
}

// find returns a unit. Words and units of time are case-insensitive, and the micro sign may
// be a Greek letter; MB and Mb differ.
func find(text string) (known, bool) {
	text = strings.TrimSpace(text)
	if one, found := byName[text]; found {
		return one, true
	}
	one, found := byName[strings.ReplaceAll(strings.ToLower(text), "\u03bc", "\u00b5")]
	if found && (one.isTime || len(text) > 3) {
		return one, true
	}
	return known{names: []string{text}}, false
}

// Canonical returns the canonical spelling of a unit, or of one per another: sec is s, [ms]
// is ms, bytes/sec and bytes per second are B/s. Unknown units stay unchanged.
func Canonical(text string) string {
	text = strings.Replace(bare(text), " per ", "/", 1)
	numerator, denominator, isRate := strings.Cut(text, "/")
	one, _ := find(numerator)
	if !isRate {
		return one.names[0]
	}
	return one.names[0] + "/" + Canonical(denominator)
}

// bare removes the brackets of units in headings.
func bare(text string) string {
	text = strings.TrimSpace(text)
	for _, brackets := range []string{"[]", "()"} {
		if inner, found := strings.CutPrefix(text, brackets[:1]); found && strings.HasSuffix(inner, brackets[1:]) {
			return strings.TrimSpace(inner[:len(inner)-1])
		}
	}
	return text
}

// Factor returns the factor between two units; false if they measure different quantities.
func Factor(from, to string) (float64, bool) {
	from, to = Canonical(from), Canonical(to)
	if from == to {
		return 1, true
	}
	numerator, per, _ := strings.Cut(from, "/")
	wanted, perWanted, _ := strings.Cut(to, "/")
	a, isA := find(numerator)
	b, isB := find(wanted)
	if !isA || !isB || per != perWanted || a.isTime != b.isTime || a.factor*b.factor == 0 {
		return 0, false
	}
	return a.factor / b.factor, true
}

// IsTime reports whether a unit is one of time.
func IsTime(text string) bool {
	one, _ := find(text)
	return one.isTime
}
