// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
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
	row("output\titerations/s\tratio\tCPU per iteration\tratio\tpeak memory\tratio\tafter 1/3\tat the end\t\n")
	base := runs[without]
	for _, c := range candidates {
		own := runs[c.name]
		row(fmt.Sprintf("%s\t%.1f\t%.3f\t%.2f ms\t%.3f\t%.0f MiB\t%.2f\t%.0f MiB\t%.0f MiB\t\n", c.name,
			over(own, rate), ratio(own, base, rate), 1000*over(own, cpu), ratio(own, base, cpu),
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

// ratio is the median over the rounds of the ratio within a round, which a
// machine that is slow for a while does not change much.
func ratio(m, base *measured, of func(turn) float64) float64 {
	values := make([]float64, len(m.turns))
	for i := range m.turns {
		values[i] = of(m.turns[i]) / of(base.turns[i])
	}
	return median(values)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
