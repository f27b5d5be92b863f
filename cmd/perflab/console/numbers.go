// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/measure/metric"
)

// PercentSign is the unit of shares.
const PercentSign = "%"

// DifferenceUnit is the unit of a difference. A difference of percentages is in
// points, not in percent of the baseline.
func DifferenceUnit(unit string) string {
	if unit == PercentSign {
		return "points"
	}
	return unit
}

// FormatInterval formats both ends with their signs; "-" without an interval.
func FormatInterval(low, high float64) string {
	if math.IsNaN(low) {
		return "-"
	}
	return fmt.Sprintf("%s to %s", FormatSigned(low), FormatSigned(high))
}

// Notes numbers sentences, so that a row refers to them by number.
type Notes struct {
	Numbers map[string]int
	list    []string
}

// NumbersFor returns the numbers of sentences, as "1,3".
func (n *Notes) NumbersFor(sentences []string) string {
	var numbers []string
	for _, sentence := range sentences {
		number, known := n.Numbers[sentence]
		if !known {
			n.list = append(n.list, sentence)
			number = len(n.list)
			n.Numbers[sentence] = number
		}
		numbers = append(numbers, strconv.Itoa(number))
	}
	return strings.Join(numbers, ",")
}

// Write lists the sentences by number.
func (n *Notes) Write(sheet *Sheet) {
	if len(n.list) == 0 {
		return
	}
	sheet.Title("Notes")
	for i, sentence := range n.list {
		sheet.Item(i+1, sentence)
	}
}

// FormatRounded formats a value with four significant digits; "-" for NaN.
func FormatRounded(value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return strconv.FormatFloat(RoundTo(value, 4), 'f', -1, 64)
}

// FormatSigned shows a delta to one decimal place, or to two significant digits
// below 1.
func FormatSigned(value float64) string {
	switch {
	case math.IsNaN(value):
		return "-"
	case math.IsInf(value, 0):
		return fmt.Sprintf("%+g", value)
	case math.Abs(value) >= 1 || value == 0:
		return fmt.Sprintf("%+.1f", value)
	}
	text := strconv.FormatFloat(RoundTo(value, 2), 'f', -1, 64)
	if value > 0 {
		text = "+" + text
	}
	return text
}

// RoundTo keeps a number of significant digits, and all digits before the
// decimal point.
func RoundTo(value float64, digits int) float64 {
	if value == 0 || math.IsInf(value, 0) {
		return value
	}
	places := digits - 1 - int(math.Floor(math.Log10(math.Abs(value))))
	if places <= 0 {
		return math.Round(value)
	}
	parsed, err := strconv.ParseFloat(strconv.FormatFloat(value, 'f', places, 64), 64)
	if err != nil {
		return value
	}
	return parsed
}

// FormatPValue formats a p-value with four decimal places; "-" for NaN.
func FormatPValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case p < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

// FormatExact formats a value with all of its digits.
func FormatExact(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// WithUnit adds the unit to a value, unless it is missing or a count.
func WithUnit(text, unit string) string {
	if text == "-" || unit == "" || unit == metric.UnitCount {
		return text
	}
	return text + " " + unit
}
