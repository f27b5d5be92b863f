// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"math"
	"slices"
	"time"

	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/payload"
)

// heatColumns is the maximum number of columns.
const heatColumns = 30

// heatWidths are the possible widths of a column, so that runs of similar duration have the same
// width.
var heatWidths = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// newHeat counts a transaction's successful samples.
func newHeat(own *payload.Payload, transaction string, start time.Time) heat {
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
			counts[[2]int16{int16(min(column, math.MaxInt16)), chart.HeatStep(milliseconds(duration))}] += samples
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

// heatWidth is the narrowest width with few enough columns, and no narrower than a bucket.
func heatWidth(own *payload.Payload, start time.Time) time.Duration {
	least := max(own.End.Sub(start)/heatColumns, time.Duration(own.BucketSeconds)*time.Second)
	for _, width := range heatWidths {
		if width >= least {
			return width
		}
	}
	return least
}
