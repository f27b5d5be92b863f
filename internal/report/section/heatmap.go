// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// heatRow is the distribution over all runs of an arm.
type heatRow struct {
	arm  arm
	runs int
	chart.HeatRow
}

// hasDurations is false for a transaction that only counts: all its samples are 0.
func (r heatRow) hasDurations() bool {
	_, high, _ := r.Extent()
	return high > chart.HeatStep(0)
}

// heatRows of a transaction, for the arms whose runs have raw results.
func (s *scenario) heatRows(subject string) []heatRow {
	var rows []heatRow
	for _, arm := range s.arms {
		var all []heat
		width := time.Duration(0)
		for _, run := range s.validRuns(arm.Name) {
			if trace := s.traces[run.Name]; trace != nil && len(trace.heats[subject].cells) > 0 {
				all = append(all, trace.heats[subject])
				width = max(width, trace.heats[subject].width)
			}
		}
		if len(all) > 0 {
			rows = append(rows, heatRow{arm, len(all), chart.HeatRow{Series: arm.series(), Width: width, Shares: heatShares(all, width)}})
		}
	}
	return rows
}

// heatShares are the samples of runs as shares of their column, in columns of a width.
func heatShares(all []heat, width time.Duration) map[[2]int16]float64 {
	sums, shares := map[int16]float64{}, map[[2]int16]float64{}
	for _, one := range all {
		for _, cell := range one.cells {
			column := int16((one.width*time.Duration(cell.column) + one.width/2) / width)
			shares[[2]int16{column, cell.step}] += float64(cell.samples)
			sums[column] += float64(cell.samples)
		}
	}
	for place := range shares {
		shares[place] /= sums[place[0]]
	}
	return shares
}

// heatMap shows the distribution of a transaction's response times over the run, from all runs of
// each arm: means show neither two peaks nor a tail that comes and goes.
func heatMap(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	rows := under.heatRows(subject)
	if !slices.ContainsFunc(rows, heatRow.hasDurations) || len(under.arms) > mostAround {
		return document.Chart{}, false
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	alt := fmt.Sprintf("Response times of %s under %s over the run, in all runs of each arm; darker means a larger share of the samples at that time. ", transaction, under.Name)
	drawn := make([]chart.HeatRow, 0, len(rows))
	for _, row := range rows {
		low, high, _ := row.Extent()
		densest := row.Densest()
		alt += fmt.Sprintf("%s (%s): mode from %s to %s ms, range from %s to %s ms. ", row.arm.Name, prose.Counted(row.runs, "run"),
			digits.Rough(chart.StepStart(densest)), digits.Rough(chart.StepStart(densest+1)), digits.Rough(chart.StepStart(low)), digits.Rough(chart.StepStart(high+1)))
		drawn = append(drawn, row.HeatRow)
	}
	return document.Chart{Title: transaction + ", all samples over the run, ms", Alt: alt, SVG: chart.HeatMap(drawn)}, true
}
