// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"fmt"
	"io"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

func writeCrossComparison(sheet *console.Sheet, result *crosscompare.Result) {
	sheet.Line("The second experiment against the first: adjusted %s %% intervals, %s %% for Equivalent; margin %s %%", console.FormatExact(result.ConfidencePercent), console.FormatExact(2*result.ConfidencePercent-100), console.FormatExact(result.MarginPercent))
	notes := console.Notes{Numbers: map[string]int{}}
	notes.NumbersFor(result.Notes)
	rows := [][]string{{"scenario", "metric", "first", "second", "second against first", "equivalence interval", "p", "equivalent", "notes"}}
	for i := range result.Baselines {
		c := &result.Baselines[i]
		equivalent := console.NotEquivalent
		if c.Verdict == verdict.Equivalent {
			equivalent = "yes"
		}
		rows = append(rows, []string{
			c.Scenario, metric.Plain(c.Metric), console.WithUnit(console.FormatRounded(c.FirstValue), c.Unit), console.WithUnit(console.FormatRounded(c.SecondValue), c.Unit),
			console.WithUnit(console.FormatSigned(c.Delta), deltaUnit(c)), console.FormatInterval(c.EquivalenceLow, c.EquivalenceHigh), console.FormatPValue(c.P), equivalent, notes.NumbersFor(comparison.Messages(c.Warnings)),
		})
	}
	sheet.Title(fmt.Sprintf("Baselines: %s and %s", result.Baselines[0].First, result.Baselines[0].Second))
	sheet.Rows(rows, "p")
	if result.Alike {
		writeCrossArms(sheet, result.Arms, &notes)
	}
	notes.Write(sheet)
}

func writeCrossArms(sheet *console.Sheet, compared []crosscompare.Comparison, notes *console.Notes) {
	sheet.Title("Arms, relative to their baselines")
	if len(compared) == 0 {
		sheet.Line("no arms besides the baselines")
		return
	}
	rows := [][]string{{"scenario", "metric", "arms", "delta in first", "delta in second", "second against first", "interval", "p adjusted", "verdict", "notes"}}
	for i := range compared {
		c := &compared[i]
		named := c.First
		if c.First != c.Second {
			named += " → " + c.Second
		}
		rows = append(rows, []string{
			c.Scenario, metric.Plain(c.Metric), named, console.WithUnit(console.FormatSigned(c.FirstValue), deltaUnit(c)), console.WithUnit(console.FormatSigned(c.SecondValue), deltaUnit(c)),
			console.WithUnit(console.FormatSigned(c.Delta), deltaUnit(c)), console.FormatInterval(c.Low, c.High), console.FormatPValue(c.Adjusted), cmp.Or(string(c.Verdict), "-"), notes.NumbersFor(comparison.Messages(c.Warnings)),
		})
	}
	sheet.Rows(rows, "p adjusted", "delta in first", "delta in second")
}

func deltaUnit(c *crosscompare.Comparison) string {
	if c.Scale == comparison.Ratio {
		return console.PercentSign
	}
	return console.DifferenceUnit(c.Unit)
}

// crossComparisonJSON is the JSON form of a comparison between experiments.
type crossComparisonJSON struct {
	Scenario    string   `json:"scenario"`
	Metric      string   `json:"metric"`
	Unit        string   `json:"unit"`
	First       string   `json:"first"`
	Second      string   `json:"second"`
	FirstValue  *float64 `json:"firstValue"`
	SecondValue *float64 `json:"secondValue"`
	effectJSON
	PAdjusted *float64        `json:"pAdjusted"`
	Verdict   verdict.Verdict `json:"verdict"`
	Warnings  []string        `json:"warnings"`
}

func writeCrossJSON(out io.Writer, result *crosscompare.Result) error {
	listed := func(all []crosscompare.Comparison) []crossComparisonJSON {
		result := make([]crossComparisonJSON, 0, len(all))
		for i := range all {
			c := &all[i]
			result = append(result, crossComparisonJSON{
				Scenario: c.Scenario, Metric: metric.Plain(c.Metric), Unit: c.Unit, First: c.First, Second: c.Second,
				FirstValue: finiteOrNil(c.FirstValue), SecondValue: finiteOrNil(c.SecondValue),
				effectJSON: effectJSON{
					Scale: string(c.Scale), Delta: finiteOrNil(c.Delta), Low: finiteOrNil(c.Low), High: finiteOrNil(c.High),
					EquivalenceLow: finiteOrNil(c.EquivalenceLow), EquivalenceHigh: finiteOrNil(c.EquivalenceHigh), PValue: finiteOrNil(c.P),
				},
				PAdjusted: finiteOrNil(c.Adjusted), Verdict: c.Verdict, Warnings: comparison.Messages(c.Warnings),
			})
		}
		return result
	}
	return console.Encode(out, struct {
		MarginPercent     float64               `json:"marginPercent"`
		ConfidencePercent float64               `json:"confidencePercent"`
		Alike             bool                  `json:"alike"`
		Baselines         []crossComparisonJSON `json:"baselines"`
		Arms              []crossComparisonJSON `json:"arms"`
		Notes             []string              `json:"notes"`
	}{result.MarginPercent, result.ConfidencePercent, result.Alike, listed(result.Baselines), listed(result.Arms), append([]string{}, result.Notes...)})
}
