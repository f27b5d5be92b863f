// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

const mib = 1 << 20

func rate(t turn) float64 { return t.rate }
func cpu(t turn) float64  { return t.cpu }

// printTable prints medians over the turns, and ratios to no output.
func printTable(w io.Writer, candidates []candidate, runs map[string]*measured) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(cells string) { _, _ = io.WriteString(table, cells) }
	row("output\titerations/s\tratio\tinterval\tCPU per iteration\tratio\tpeak memory\tratio\tafter 1/3\tat the end\t\n")
	base := runs[without]
	for _, c := range candidates {
		own := runs[c.name]
		low, high := interval(ratios(own, base, rate))
		row(fmt.Sprintf("%s\t%.1f\t%.3f\t%.2f-%.2f\t%.2f ms\t%.3f\t%.0f MiB\t%.2f\t%.0f MiB\t%.0f MiB\t\n", c.name,
			over(own, rate), ratio(own, base, rate), low, high, 1000*over(own, cpu), ratio(own, base, cpu),
			own.peak/mib, own.peak/base.peak, own.early/mib, own.late/mib))
	}
	_ = table.Flush()
}

// over is the median over the turns.
func over(m *measured, of func(turn) float64) float64 {
	values := make([]float64, len(m.turns))
	for i, t := range m.turns {
		values[i] = of(t)
	}
	return median(values)
}

// ratios are those within each round, which a machine that is slow for a while
// does not change much.
func ratios(m, base *measured, of func(turn) float64) []float64 {
	values := make([]float64, len(m.turns))
	for i := range m.turns {
		values[i] = of(m.turns[i]) / of(base.turns[i])
	}
	return values
}

// ratio is the median over the rounds.
func ratio(m, base *measured, of func(turn) float64) float64 { return median(ratios(m, base, of)) }

// interval is where the median would be found in 95 % of such benchmarks: two of
// the values themselves, by the sign test, whatever their distribution.
func interval(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := float64(len(sorted))
	aside := max(int(n/2-0.98*math.Sqrt(n)), 0)
	return sorted[aside], sorted[len(sorted)-1-aside]
}

// verdict says nothing if ours surely keeps enough of the rate.
func verdict(runs map[string]*measured) error {
	low, high := interval(ratios(runs[ours], runs[without], rate))
	switch {
	case low >= enough:
		return nil
	case high < enough:
		return fmt.Errorf("output %q keeps %.1f to %.1f %% of the rate without output, less than %.0f %%", ours, 100*low, 100*high, 100*enough)
	default:
		return fmt.Errorf("output %q keeps between %.1f and %.1f %% of the rate without output, which does not tell whether it is %.0f %%: repeat it on a quieter machine, or with more rounds",
			ours, 100*low, 100*high, 100*enough)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
