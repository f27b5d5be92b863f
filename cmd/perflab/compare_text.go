// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"io"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/crosscompare"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/measure/metric"
)

func writeAcross(sheet *sheet, result *crosscompare.Result) {
	sheet.line("The second experiment against the first: adjusted %s %% intervals, of Equivalent %s %%; margin %s %%", plain(result.ConfidencePercent), plain(2*result.ConfidencePercent-100), plain(result.MarginPercent))
	notes := notes{numbers: map[string]int{}}
	notes.of(result.Notes)
	rows := [][]string{{"scenario", "metric", "first", "second", "second against first", "equivalence interval", "p", "alike", "notes"}}
	for i := range result.Baselines {
		c := &result.Baselines[i]
		alike := "not shown"
		if c.Verdict == verdict.Equivalent {
			alike = "yes"
		}
		rows = append(rows, []string{
			c.Scenario, metric.Plain(c.Metric), withUnit(rounded(c.FirstValue), c.Unit), withUnit(rounded(c.SecondValue), c.Unit),
			withUnit(signed(c.Delta), deltaUnit(c)), interval(c.EquivalenceLow, c.EquivalenceHigh), probability(c.P), alike, notes.of(c.Warnings),
		})
	}
	sheet.title(fmt.Sprintf("Baselines: %s and %s", result.Baselines[0].First, result.Baselines[0].Second))
	sheet.rows(rows, "p")
	if result.Alike {
		writeArmsAcross(sheet, result.Arms, &notes)
	}
	notes.write(sheet)
}

func writeArmsAcross(sheet *sheet, compared []crosscompare.Comparison, notes *notes) {
	sheet.title("Arms, each through its own baseline")
	if len(compared) == 0 {
		sheet.line("there are none beside the baselines")
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
			c.Scenario, metric.Plain(c.Metric), named, withUnit(signed(c.FirstValue), deltaUnit(c)), withUnit(signed(c.SecondValue), deltaUnit(c)),
			withUnit(signed(c.Delta), deltaUnit(c)), interval(c.Low, c.High), probability(c.Adjusted), cmp.Or(string(c.Verdict), "-"), notes.of(c.Warnings),
		})
	}
	sheet.rows(rows, "p adjusted", "delta in first", "delta in second")
}

func deltaUnit(c *crosscompare.Comparison) string {
	if c.Scale == comparison.Ratio {
		return percentSign
	}
	return differenceUnit(c.Unit)
}

// acrossJSON is one comparison as other programs read it.
type acrossJSON struct {
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

func writeAcrossJSON(out io.Writer, result *crosscompare.Result) error {
	listed := func(all []crosscompare.Comparison) []acrossJSON {
		result := make([]acrossJSON, 0, len(all))
		for i := range all {
			c := &all[i]
			result = append(result, acrossJSON{
				Scenario: c.Scenario, Metric: metric.Plain(c.Metric), Unit: c.Unit, First: c.First, Second: c.Second,
				FirstValue: number(c.FirstValue), SecondValue: number(c.SecondValue),
				effectJSON: effectJSON{
					Scale: string(c.Scale), Delta: number(c.Delta), Low: number(c.Low), High: number(c.High),
					EquivalenceLow: number(c.EquivalenceLow), EquivalenceHigh: number(c.EquivalenceHigh), PValue: number(c.P),
				},
				PAdjusted: number(c.Adjusted), Verdict: c.Verdict, Warnings: append([]string{}, c.Warnings...),
			})
		}
		return result
	}
	return encode(out, struct {
		MarginPercent     float64      `json:"marginPercent"`
		ConfidencePercent float64      `json:"confidencePercent"`
		Alike             bool         `json:"alike"`
		Baselines         []acrossJSON `json:"baselines"`
		Arms              []acrossJSON `json:"arms"`
		Notes             []string     `json:"notes"`
	}{result.MarginPercent, result.ConfidencePercent, result.Alike, listed(result.Baselines), listed(result.Arms), append([]string{}, result.Notes...)})
}
