// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"io"
	"math"
	"strconv"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

func (o *analyzeOptions) write(out io.Writer, comparisons []comparison.Comparison) error {
	if o.format == console.FormatJSON {
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
	return console.Encode(out, struct {
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
	sheet := console.Sheet{Page: *console.NewPage(out), Markdown: o.format == console.FormatMarkdown, All: o.all}
	sheet.Line("Arms against %s: adjusted %s %% intervals, %s %% for Equivalent; margin %s %%", o.baseline, console.FormatExact(o.confidence), console.FormatExact(2*o.confidence-100), console.FormatExact(o.margin))
	notes, left := console.Notes{Numbers: map[string]int{}}, 0
	for first := 0; first < len(comparisons); {
		last := first
		rows := [][]string{{"metric", "arm", "blocks", "baseline", "arm's", "delta", "interval", "p", "p sign-flip", "p adjusted", "verdict", "notes"}}
		for last < len(comparisons) && comparisons[last].Scenario == comparisons[first].Scenario {
			last++
		}
		admitted := sheet.Admit(last - first)
		left += last - first - admitted
		for at := range admitted {
			rows = append(rows, comparisonRow(&comparisons[first+at], &notes))
		}
		if admitted > 0 {
			sheet.Title("Scenario " + comparisons[first].Scenario)
			sheet.Rows(rows, "p sign-flip", "p", "p adjusted", "blocks", "arm's", "baseline")
		}
		first = last
	}
	sheet.WriteOmitted(left)
	notes.Write(&sheet)
	return sheet.Err
}

func comparisonRow(c *comparison.Comparison, notes *console.Notes) []string {
	unit := console.PercentSign
	if c.Scale == comparison.Difference {
		unit = console.DifferenceUnit(c.Unit)
	}
	return []string{
		metric.Plain(c.Metric), c.Arm, strconv.Itoa(c.Blocks),
		console.WithUnit(console.FormatRounded(c.BaselineCenter), c.Unit), console.WithUnit(console.FormatRounded(c.ArmCenter), c.Unit),
		console.WithUnit(console.FormatSigned(c.Delta), unit), console.FormatInterval(c.Low, c.High),
		console.FormatPValue(c.P), console.FormatPValue(c.Permutation), console.FormatPValue(c.Adjusted),
		cmp.Or(string(c.Verdict), "-"), notes.NumbersFor(comparison.Messages(c.Warnings)),
	}
}
