// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// heat is how many samples of a transaction there were, by the time in the run and by
// how long they took.
type heat struct {
	// width of a column.
	width time.Duration
	cells []heatCell
}

// heatCell is a field of a heat map: the column, the step of response times, and how
// many samples lie there.
type heatCell struct {
	column, step int16
	samples      uint32
}

// heatColumns are there at most.
const heatColumns = 30

// heatWidths are what a column can be wide: runs that take about as long have the same.
var heatWidths = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// heatOf a transaction's successful samples.
func heatOf(own *payload.Payload, transaction string, start time.Time) heat {
	if start.IsZero() {
		return heat{}
	}
	found := heat{width: heatWidth(own, start)}
	counts := map[[2]int16]uint32{}
	for bucket := range successes(own, transaction) {
		middle := time.Unix(bucket.Index*int64(own.BucketSeconds), 0).Add(time.Duration(own.BucketSeconds) * time.Second / 2)
		column := middle.Sub(start) / found.width
		if middle.Before(start) || bucket.Histogram == nil {
			continue
		}
		for duration, samples := range bucket.Histogram.All() {
			counts[[2]int16{int16(min(column, math.MaxInt16)), HeatStep(milliseconds(duration))}] += samples
		}
	}
	for place, samples := range counts {
		found.cells = append(found.cells, heatCell{place[0], place[1], samples})
	}
	slices.SortFunc(found.cells, func(a, b heatCell) int {
		return cmp.Or(cmp.Compare(a.column, b.column), cmp.Compare(a.step, b.step))
	})
	return found
}

// heatWidth is the narrowest with which a load has few enough columns, and no buckets
// that are wider.
func heatWidth(own *payload.Payload, start time.Time) time.Duration {
	least := max(own.End.Sub(start)/heatColumns, time.Duration(own.BucketSeconds)*time.Second)
	for _, width := range heatWidths {
		if width >= least {
			return width
		}
	}
	return least
}

// heatRow is the distribution over all runs of an arm.
type heatRow struct {
	arm  arm
	runs int
	HeatRow
}

// heatRows of a transaction, of the arms whose runs have raw results.
func (s *scenario) heatRows(subject string) []heatRow {
	var rows []heatRow
	for _, arm := range s.arms {
		var all []heat
		width := time.Duration(0)
		for _, run := range s.valid(arm.Name) {
			if trace := s.traces[run.Name]; trace != nil && len(trace.heats[subject].cells) > 0 {
				all = append(all, trace.heats[subject])
				width = max(width, trace.heats[subject].width)
			}
		}
		if len(all) > 0 {
			rows = append(rows, heatRow{arm, len(all), HeatRow{Series: arm.series(), Width: width, Shares: heatShares(all, width)}})
		}
	}
	return rows
}

// heatShares are the samples of runs as shares of those in a column, in columns of a width.
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

// heatMap shows how the response times of a transaction spread over the run, over all
// runs of each arm: no mean shows two humps, or a tail that comes and goes.
func heatMap(_ *record, under *scenario, subject string) (chart, bool) {
	rows := under.heatRows(subject)
	if len(rows) == 0 || len(under.arms) > mostAround {
		return chart{}, false
	}
	_, transaction := metric.CutOwner(metric.Plain(subject))
	alt := fmt.Sprintf("How long %s took under %s over the run, in all runs of each arm: the darker, the larger the share of the samples of that time. ", transaction, under.Name)
	drawn := make([]HeatRow, 0, len(rows))
	for _, row := range rows {
		low, high, _ := row.Extent()
		densest := row.Densest()
		alt += fmt.Sprintf("%s (%s): most from %s to %s ms, all from %s to %s ms. ", row.arm.Name, prose.Counted(row.runs, "run"),
			rough(StepStart(densest)), rough(StepStart(densest+1)), rough(StepStart(low)), rough(StepStart(high+1)))
		drawn = append(drawn, row.HeatRow)
	}
	return chart{Title: transaction + ", all samples over the run, ms", Alt: alt, SVG: HeatMap(drawn)}, true
}
