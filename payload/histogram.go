// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

const (
	// highest is the longest duration a histogram tells apart, in microseconds:
	// a week. Longer ones count as this; Sum and Max stay exact.
	highest = int64(7 * 24 * time.Hour / time.Microsecond)
	// halfCells is the number of cells in each doubling of the value, which
	// bounds the relative error by 1/halfCells, just under 0.1 %.
	halfCells = 1024
)

func newHistogram() *hdrhistogram.PackedHistogram {
	return hdrhistogram.NewPacked(1, highest, 3)
}

// record adds the duration d to h, to the nearest microsecond.
func record(h *hdrhistogram.PackedHistogram, d time.Duration) {
	us := int64(d.Round(time.Microsecond) / time.Microsecond)
	// The value is inside the histogram's range, so there is no error to see.
	_ = h.RecordValue(min(max(us, 0), highest))
}

// cellOf numbers the histogram's cells without gaps: one per microsecond below
// 2048 µs, then 1024 for each doubling.
func cellOf(value int64) int64 {
	shift := max(bits.Len64(uint64(value))-11, 0)
	return int64(shift)*halfCells + value>>shift
}

// valueOf is the lowest value of a cell.
func valueOf(cell int64) int64 {
	shift := max(cell/halfCells-1, 0)
	return (cell - shift*halfCells) << shift
}

// percentile is the smallest duration that at least percent of the samples do
// not exceed: the middle of its cell, but nothing outside of what was seen.
func (b *Bucket) percentile(percent int64) time.Duration {
	rank := (b.Count*percent + 99) / 100
	var value int64
	b.Histogram.ForEachBucket(func(lowest, count int64) bool {
		value = (lowest + valueOf(cellOf(lowest)+1)) / 2
		rank -= count
		return rank > 0
	})
	return min(max(time.Duration(value)*time.Microsecond, b.Min), b.Max)
}
