// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

const (
	mib = 1 << 20
	// mostCPU is the maximum ratio of the CPU time of an iteration with PerfLab's output to
	// that without output. surelyCPU is the maximum of the upper bound of its interval.
	mostCPU, surelyCPU = 1.03, 1.05
)

func cpu(t turn) float64          { return 1000 * t.cpu.Seconds() / t.iterations }
func instructions(t turn) float64 { return t.instructions / t.iterations / 1e6 }
func rate(t turn) float64         { return t.iterations / t.took.Seconds() }
func end(t turn) float64          { return 1000 * t.end.Seconds() }
func peak(t turn) float64         { return t.peak / mib }

// printTable prints medians over the turns, and ratios to the turns without output.
func printTable(w io.Writer, candidates []candidate, runs map[string][]turn) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(format string, cells ...any) { _, _ = fmt.Fprintf(table, format+"\t\n", cells...) }
	row("output\tCPU/iteration\tratio\tinterval\tinstructions\tratio\tinterval\titerations/s\tratio\tinterval\tat the end\tpeak memory")
	base := runs[without]
	for _, c := range candidates {
		own := runs[c.name]
		row("%s\t%.2f ms\t%s\t%.2f M\t%s\t%.0f\t%s\t%.0f ms\t%.0f MiB", c.name, over(own, cpu), estimate(own, base, cpu),
			over(own, instructions), estimate(own, base, instructions), over(own, rate), estimate(own, base, rate), over(own, end), over(own, peak))
	}
	_ = table.Flush()
}

// estimate formats a ratio and its interval for the table.
func estimate(own, base []turn, of func(turn) float64) string {
	middle, low, high := interval(logRatios(own, base, of))
	if math.IsNaN(middle) {
		return "-\t-"
	}
	if middle == 1 && low == high {
		return "1\t"
	}
	return fmt.Sprintf("%.3f\t%.3f-%.3f", middle, low, high)
}

// over returns the median over the turns.
func over(turns []turn, of func(turn) float64) float64 {
	values := make([]float64, len(turns))
	for i, t := range turns {
		values[i] = of(t)
	}
	return median(values)
}

// logRatios returns the ratios within each round. A machine that is slow for a while changes
// them little.
func logRatios(own, base []turn, of func(turn) float64) []float64 {
	values := make([]float64, len(own))
	for i := range own {
		values[i] = math.Log(of(own[i]) / of(base[i]))
	}
	return values
}

// interval returns the ratio and its 95 % confidence interval, by Wilcoxon's signed ranks: the
// median of the means of all pairs of rounds (Hodges and Lehmann, 1963). It is robust against a
// few disturbed rounds.
func interval(logs []float64) (middle, low, high float64) {
	var means []float64
	for i := range logs {
		for j := range i + 1 {
			means = append(means, (logs[i]+logs[j])/2)
		}
	}
	slices.Sort(means)
	n := float64(len(logs))
	aside := max(int(n*(n+1)/4-1.96*math.Sqrt(n*(n+1)*(2*n+1)/24)), 0)
	return math.Exp(median(means)), math.Exp(means[aside]), math.Exp(means[len(means)-1-aside])
}

// verdict returns nil if PerfLab's output certainly costs little, and less than every other
// output.
func verdict(candidates []candidate, runs map[string][]turn) error {
	middle, low, high := interval(logRatios(runs[ours], runs[without], cpu))
	reported := fmt.Sprintf("output %q takes %.3f of the CPU time without output (%.3f to %.3f)", ours, middle, low, high)
	if low > mostCPU {
		return fmt.Errorf("%s, more than %.2f", reported, mostCPU)
	}
	if middle > mostCPU || high > surelyCPU {
		return fmt.Errorf("%s, which does not show that it is at most %.2f: repeat on a quieter machine, or for longer", reported, mostCPU)
	}
	for _, c := range candidates {
		if c.name == without || c.name == ours {
			continue
		}
		if middle, low, high := interval(logRatios(runs[ours], runs[c.name], cpu)); middle >= 1 {
			return fmt.Errorf("output %q takes %.3f of the CPU time of output %q (%.3f to %.3f), which is not less", ours, middle, c.name, low, high)
		}
	}
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return 0
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
