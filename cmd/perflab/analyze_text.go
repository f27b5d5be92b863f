// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

func (o *analyzeOptions) write(out io.Writer, comparisons []comparison.Comparison) error {
	if o.format == formatJSON {
		return writeComparisonsJSON(out, comparisons)
	}
	return o.writeTable(out, comparisons)
}

// effectJSON has the fields that all comparisons share. Unknown numbers are
// null.
type effectJSON struct {
	Scale           string   `json:"scale"`
	Delta           *float64 `json:"delta"`
	Low             *float64 `json:"low"`
	High            *float64 `json:"high"`
	EquivalenceLow  *float64 `json:"equivalenceLow"`
	EquivalenceHigh *float64 `json:"equivalenceHigh"`
	PValue          *float64 `json:"pValue"`
}

// comparisonJSON is the JSON form of a comparison.
type comparisonJSON struct {
	Scenario string `json:"scenario"`
	Metric   string `json:"metric"`
	metric.Identity
	Unit           string   `json:"unit"`
	Arm            string   `json:"arm"`
	Baseline       string   `json:"baseline"`
	Blocks         int      `json:"blocks"`
	BaselineCenter *float64 `json:"baselineCenter"`
	ArmCenter      *float64 `json:"armCenter"`
	effectJSON
	PPermutation *float64        `json:"pPermutation"`
	PAdjusted    *float64        `json:"pAdjusted"`
	Verdict      verdict.Verdict `json:"verdict"`
	// Withheld is the code of why there is no verdict.
	Withheld comparison.Code `json:"withheld"`
	Warnings []string        `json:"warnings"`
}

func writeComparisonsJSON(out io.Writer, comparisons []comparison.Comparison) error {
	listed := make([]comparisonJSON, 0, len(comparisons))
	for i := range comparisons {
		c := &comparisons[i]
		listed = append(listed, comparisonJSON{
			Scenario: c.Scenario, Metric: metric.Plain(c.Metric), Identity: metric.Parse(c.Metric).Identity(), Unit: c.Unit, Arm: c.Arm, Baseline: c.Baseline, Blocks: c.Blocks,
			BaselineCenter: finiteOrNil(c.BaselineCenter), ArmCenter: finiteOrNil(c.ArmCenter),
			effectJSON: effectJSON{
				Scale: string(c.Scale), Delta: finiteOrNil(c.Delta), Low: finiteOrNil(c.Low), High: finiteOrNil(c.High),
				EquivalenceLow: finiteOrNil(c.EquivalenceLow), EquivalenceHigh: finiteOrNil(c.EquivalenceHigh), PValue: finiteOrNil(c.P),
			},
			PPermutation: finiteOrNil(c.Permutation), PAdjusted: finiteOrNil(c.Adjusted),
			Verdict: c.Verdict, Withheld: c.Withheld.Code, Warnings: comparison.Messages(c.Warnings),
		})
	}
	return encode(out, struct {
		Comparisons []comparisonJSON `json:"comparisons"`
	}{listed})
}

// finiteOrNil returns nil for values that JSON can't represent.
func finiteOrNil(value float64) *float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	return &value
}

func (o *analyzeOptions) writeTable(out io.Writer, comparisons []comparison.Comparison) error {
	sheet := sheet{page: *newPage(out), markdown: o.format == formatMarkdown, all: o.all}
	sheet.line("Arms against %s: adjusted %s %% intervals, %s %% for Equivalent; margin %s %%", o.baseline, formatExact(o.confidence), formatExact(2*o.confidence-100), formatExact(o.margin))
	notes, left := notes{numbers: map[string]int{}}, 0
	for first := 0; first < len(comparisons); {
		last := first
		rows := [][]string{{"metric", "arm", "blocks", "baseline", "arm's", "delta", "interval", "p", "p sign-flip", "p adjusted", "verdict", "notes"}}
		for last < len(comparisons) && comparisons[last].Scenario == comparisons[first].Scenario {
			last++
		}
		admitted := sheet.admit(last - first)
		left += last - first - admitted
		for at := range admitted {
			rows = append(rows, comparisonRow(&comparisons[first+at], &notes))
		}
		if admitted > 0 {
			sheet.title("Scenario " + comparisons[first].Scenario)
			sheet.rows(rows, "p sign-flip", "p", "p adjusted", "blocks", "arm's", "baseline")
		}
		first = last
	}
	sheet.writeOmitted(left)
	notes.write(&sheet)
	return sheet.err
}

func comparisonRow(c *comparison.Comparison, notes *notes) []string {
	unit := percentSign
	if c.Scale == comparison.Difference {
		unit = differenceUnit(c.Unit)
	}
	return []string{
		metric.Plain(c.Metric), c.Arm, strconv.Itoa(c.Blocks),
		withUnit(formatRounded(c.BaselineCenter), c.Unit), withUnit(formatRounded(c.ArmCenter), c.Unit),
		withUnit(formatSigned(c.Delta), unit), formatInterval(c.Low, c.High),
		formatPValue(c.P), formatPValue(c.Permutation), formatPValue(c.Adjusted),
		cmp.Or(string(c.Verdict), "-"), notes.numbersFor(comparison.Messages(c.Warnings)),
	}
}

const percentSign = "%"

// differenceUnit is the unit of a difference. A difference of percentages is in
// points, not in percent of the baseline.
func differenceUnit(unit string) string {
	if unit == percentSign {
		return "points"
	}
	return unit
}

func formatInterval(low, high float64) string {
	if math.IsNaN(low) {
		return "-"
	}
	return fmt.Sprintf("%s to %s", formatSigned(low), formatSigned(high))
}

// notes numbers sentences, so that a row refers to them by number.
type notes struct {
	numbers map[string]int
	list    []string
}

func (n *notes) numbersFor(sentences []string) string {
	var numbers []string
	for _, sentence := range sentences {
		number, known := n.numbers[sentence]
		if !known {
			n.list = append(n.list, sentence)
			number = len(n.list)
			n.numbers[sentence] = number
		}
		numbers = append(numbers, strconv.Itoa(number))
	}
	return strings.Join(numbers, ",")
}

func (n *notes) write(sheet *sheet) {
	if len(n.list) == 0 {
		return
	}
	sheet.title("Notes")
	for i, sentence := range n.list {
		sheet.item(i+1, sentence)
	}
}

func formatRounded(value float64) string {
	if math.IsNaN(value) {
		return "-"
	}
	return strconv.FormatFloat(roundTo(value, 4), 'f', -1, 64)
}

// formatSigned shows a delta to one decimal place, or to two significant digits
// below 1.
func formatSigned(value float64) string {
	switch {
	case math.IsNaN(value):
		return "-"
	case math.IsInf(value, 0):
		return fmt.Sprintf("%+g", value)
	case math.Abs(value) >= 1 || value == 0:
		return fmt.Sprintf("%+.1f", value)
	}
	text := strconv.FormatFloat(roundTo(value, 2), 'f', -1, 64)
	if value > 0 {
		text = "+" + text
	}
	return text
}

// roundTo keeps a number of significant digits, and all digits before the
// decimal point.
func roundTo(value float64, digits int) float64 {
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

func formatPValue(p float64) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case p < 0.0001:
		return "<0.0001"
	}
	return strconv.FormatFloat(p, 'f', 4, 64)
}

func formatExact(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

func withUnit(text, unit string) string {
	if text == "-" || unit == "" || unit == metric.UnitCount {
		return text
	}
	return text + " " + unit
}
