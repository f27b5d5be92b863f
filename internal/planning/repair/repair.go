// SPDX-License-Identifier: Apache-2.0

// Package repair suggests valid values for nearly valid ones: 15s for 15, 512Mi for 512MB,
// 5 for 5%. Each function returns "" if there is no clear suggestion. It is pure.
package repair

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	// part of a duration or of a size: a number, and a unit.
	part      = regexp.MustCompile(`^[ ,]*(?:and)? *([0-9]+(?:[.,][0-9]+)?) *([a-zµ]*)`)
	isoPeriod = regexp.MustCompile(`^p(?:([0-9]+)w)?(?:([0-9]+)d)?(?:t(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?)?$`)
	amount    = regexp.MustCompile(`^([0-9]+(?:[.,][0-9]+)?) *([a-zµ%]*)$`)
	thousands = regexp.MustCompile(`^[0-9]{1,3}(?:[ ,_'][0-9]{3})+$`)
	whole     = regexp.MustCompile(`^([0-9]+)(?:[.]0+)? *(%|percent|k|)$`)
	fraction  = regexp.MustCompile(`^0[.,][0-9]+$`)
)

// period is a unit of time in the API's units.
type period struct {
	unit string
	of   float64
}

// periods are the units of time by their names.
var periods = map[string]period{
	"ms": {"ms", 1}, "msec": {"ms", 1}, "msecs": {"ms", 1}, "milli": {"ms", 1}, "millis": {"ms", 1}, "millisecond": {"ms", 1}, "milliseconds": {"ms", 1},
	"s": {"s", 1}, "sec": {"s", 1}, "secs": {"s", 1}, "second": {"s", 1}, "seconds": {"s", 1},
	"m": {"m", 1}, "min": {"m", 1}, "mins": {"m", 1}, "minute": {"m", 1}, "minutes": {"m", 1},
	"h": {"h", 1}, "hr": {"h", 1}, "hrs": {"h", 1}, "hour": {"h", 1}, "hours": {"h", 1},
	"d": {"h", 24}, "day": {"h", 24}, "days": {"h", 24},
	"w": {"h", 168}, "week": {"h", 168}, "weeks": {"h", 168},
}

// below is the unit of a number without one, after another unit.
var below = map[string]string{"": "s", "h": "m", "m": "s", "s": "ms"}

// Duration suggests a duration of the API: 15s for 15, 5m for "5 min" and PT5M, 36h for
// 1d12h, 1h30m for 1h30.
func Duration(written string) string {
	text := strings.ToLower(strings.TrimSpace(written))
	if parts := isoPeriod.FindStringSubmatch(text); parts != nil {
		text = ""
		for i, unit := range []string{"w", "d", "h", "m", "s"} {
			if parts[i+1] != "" {
				text += parts[i+1] + unit
			}
		}
	}
	var made []period
	last := ""
	for text != "" {
		parts := part.FindStringSubmatch(text)
		if parts == nil {
			return ""
		}
		unit := parts[2]
		if unit == "" {
			unit = below[last]
		}
		known, is := periods[unit]
		if !is {
			return ""
		}
		number, err := strconv.ParseFloat(pointed(parts[1]), 64)
		if err != nil {
			return ""
		}
		if end := len(made) - 1; end >= 0 && made[end].unit == known.unit {
			made[end].of += number * known.of
		} else {
			made = append(made, period{known.unit, number * known.of})
		}
		last, text = unit, text[len(parts[0]):]
	}
	instead := ""
	for _, one := range made {
		instead += decimal(one.of) + one.unit
	}
	return unlike(written, instead)
}

// sizes are the units of bytes by their names.
var sizes = map[string]string{
	"b": "", "byte": "", "bytes": "",
	"k": "Ki", "kb": "Ki", "ki": "Ki", "kib": "Ki", "kilobyte": "Ki", "kilobytes": "Ki",
	"m": "Mi", "mb": "Mi", "mi": "Mi", "mib": "Mi", "meg": "Mi", "megs": "Mi", "megabyte": "Mi", "megabytes": "Mi",
	"g": "Gi", "gb": "Gi", "gi": "Gi", "gib": "Gi", "gig": "Gi", "gigs": "Gi", "gigabyte": "Gi", "gigabytes": "Gi",
	"t": "Ti", "tb": "Ti", "ti": "Ti", "tib": "Ti", "terabyte": "Ti", "terabytes": "Ti",
}

// Bytes suggests a quantity of bytes: 512Mi for 512MB, 512m and 512, 1.5Gi for "1,5 GB" and
// 1.5.
func Bytes(written string) string {
	parts := amount.FindStringSubmatch(strings.ToLower(strings.TrimSpace(written)))
	if parts == nil {
		return ""
	}
	unit, known := sizes[parts[2]]
	switch {
	case parts[2] == "" && strings.ContainsAny(parts[1], ".,"):
		unit = "Gi"
	case parts[2] == "":
		unit = "Mi"
	case !known:
		return ""
	}
	return unlike(written, pointed(parts[1])+unit)
}

// cores are the units of CPU time by their names, in millicores.
var cores = map[string]float64{
	"": 1000, "c": 1000, "core": 1000, "cores": 1000, "cpu": 1000, "cpus": 1000, "vcpu": 1000, "vcpus": 1000,
	"m": 1, "milli": 1, "mcpu": 1, "millicpu": 1, "millicpus": 1, "millicore": 1, "millicores": 1, "%": 10,
}

// Cores suggests a quantity of CPU: 2 for "2 cores", 500m for 0.5, 50% and 500M.
func Cores(written string) string {
	parts := amount.FindStringSubmatch(strings.ToLower(strings.TrimSpace(written)))
	if parts == nil {
		return ""
	}
	each, known := cores[parts[2]]
	number, err := strconv.ParseFloat(pointed(parts[1]), 64)
	if !known || err != nil {
		return ""
	}
	made := decimal(number*each) + "m"
	if each == 1000 && number == float64(int64(number)) {
		made = decimal(number)
	}
	return unlike(written, made)
}

// Whole suggests an integer: 5 for "5", 5% and 5.0, 1000 for "1,000" and 1k.
func Whole(written string) string {
	text := strings.ToLower(strings.TrimSpace(written))
	if thousands.MatchString(text) {
		return strings.NewReplacer(" ", "", ",", "", "_", "", "'", "").Replace(text)
	}
	parts := whole.FindStringSubmatch(text)
	switch {
	case parts == nil:
		return ""
	case parts[2] == "k":
		return parts[1] + "000"
	default:
		return parts[1]
	}
}

// Seconds suggests a whole number of seconds: 3600 for 1h.
func Seconds(written string) string {
	if made := Whole(written); made != "" {
		return made
	}
	text := Duration(written)
	if text == "" {
		text = strings.TrimSpace(written)
	}
	length, err := time.ParseDuration(text)
	if err != nil || length < 0 || length%time.Second != 0 {
		return ""
	}
	return strconv.FormatInt(int64(length/time.Second), 10)
}

// Percent suggests a whole percentage: 5 for 5% and for 0.05.
func Percent(written string) string {
	if made := Whole(written); made != "" {
		return made
	}
	text := pointed(strings.TrimSpace(written))
	if number, err := strconv.ParseFloat(text, 64); err == nil && fraction.MatchString(text) {
		return Whole(decimal(100 * number))
	}
	return ""
}

// Number suggests a decimal number: 2.5 for "2,5" and 2.5%.
func Number(written string) string {
	parts := amount.FindStringSubmatch(strings.ToLower(strings.TrimSpace(written)))
	if thousands.MatchString(written) || parts == nil || parts[2] != "" && parts[2] != "%" && parts[2] != "percent" {
		return Whole(written)
	}
	return unlike(written, pointed(parts[1]))
}

// Bool suggests true or false.
func Bool(written string) string {
	switch strings.ToLower(strings.TrimSpace(written)) {
	case "true", "yes", "y", "on", "1", "enabled":
		return "true"
	case "false", "no", "n", "off", "0", "disabled":
		return "false"
	}
	return ""
}

// ForType suggests a value for a flag of a pflag type.
func ForType(kind, written string) string {
	switch {
	case kind == "duration":
		return Duration(written)
	case kind == "bool":
		return Bool(written)
	case strings.HasPrefix(kind, "float"):
		return Number(written)
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return Whole(written)
	}
	return ""
}

// Advice returns the end of an error message with a suggestion, if there is one.
func Advice(instead string) string {
	if instead == "" {
		return ""
	}
	return ": write " + instead
}

// pointed replaces a decimal comma by a decimal point.
func pointed(number string) string { return strings.ReplaceAll(number, ",", ".") }

// decimal formats a value without digits from rounding errors.
func decimal(value float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(value, 'g', 12, 64), 64)
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// unlike returns the suggestion, or "" if it equals the value.
func unlike(written, made string) string {
	if made == written {
		return ""
	}
	return made
}
