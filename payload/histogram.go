// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"iter"
	"math"
	"slices"
	"time"
)

const (
	// growth is the ratio of the starts of adjacent cells. A value in the cell that starts at v
	// is within (growth-1)/(growth+1) < 0.1 % of v·middle.
	growth = 1.002
	middle = 2 * growth / (growth + 1)
	// longest is the longest duration that a histogram distinguishes. Longer ones count as this
	// one. Sum and Max stay exact.
	longest = 7 * 24 * time.Hour
)

var (
	logGrowth = math.Log(growth)
	// lastCell is the cell of the longest duration.
	lastCell = cellIndex(longest)
)

// Histogram counts durations in cells that are each 0.2 % wide. Its memory depends on the number
// of used cells, not on the number of durations. Response times that spread over two orders of
// magnitude use about 2,400 cells.
//
// The cells are those of a DDSketch (Masson, Rim and Lee, 2019). An HdrHistogram needs three
// times as many for the same accuracy, so they halve the size of a payload.
type Histogram struct {
	cells  []uint16 // sorted
	counts []uint32 // of these cells

	// packed is the text of all cells, starting at start, and replaces cells and counts. It takes
	// a sixth of their memory, and is never changed.
	packed string
	start  uint16
}

// pack reduces the memory of h until something is added to it.
func (h *Histogram) pack() {
	if len(h.cells) > 0 {
		*h = Histogram{packed: string(h.appendText(nil)), start: h.cells[0]}
	}
}

// size returns the memory of the cells, in bytes, packed or not.
func (h *Histogram) size() int {
	const cell = 2 + 4
	return len(h.packed) + cell*len(h.cells)
}

func (h *Histogram) unpack() {
	if h.packed == "" {
		return
	}
	text, start := h.packed, h.start
	*h = Histogram{}
	// pack wrote the text, so parsing does not fail.
	_ = h.parseText(int64(start), text)
}

// cellIndex returns the cell that holds d.
func cellIndex(d time.Duration) int {
	if d < time.Microsecond {
		return 0
	}
	return 1 + int(math.Log(float64(d)/float64(time.Microsecond))/logGrowth)
}

// typical returns a duration that is within 0.1 % of any duration in the cell.
func typical(cell uint16) time.Duration {
	if cell == 0 {
		return 0
	}
	return time.Duration(math.Exp(float64(cell-1)*logGrowth) * middle * float64(time.Microsecond))
}

// Record counts a duration.
func (h *Histogram) Record(d time.Duration) {
	h.count(uint16(min(cellIndex(d), lastCell)), 1)
}

// count adds n to a cell.
func (h *Histogram) count(cell uint16, n uint32) {
	h.unpack()
	i, found := slices.BinarySearch(h.cells, cell)
	if !found {
		h.cells = slices.Insert(h.cells, i, cell)
		h.counts = slices.Insert(h.counts, i, 0)
	}
	h.counts[i] += n
}

// add adds another histogram.
func (h *Histogram) add(o *Histogram) {
	if h.empty() {
		*h = *o.clone()
		return
	}
	o = o.clone()
	o.unpack()
	h.unpack()
	sum := Histogram{
		cells:  make([]uint16, 0, max(len(h.cells), len(o.cells))),
		counts: make([]uint32, 0, max(len(h.cells), len(o.cells))),
	}
	i, j := 0, 0
	for i < len(h.cells) || j < len(o.cells) {
		switch {
		case j == len(o.cells) || i < len(h.cells) && h.cells[i] < o.cells[j]:
			sum.push(h.cells[i], h.counts[i])
			i++
		case i == len(h.cells) || o.cells[j] < h.cells[i]:
			sum.push(o.cells[j], o.counts[j])
			j++
		default:
			sum.push(h.cells[i], h.counts[i]+o.counts[j])
			i, j = i+1, j+1
		}
	}
	*h = sum
}

// push adds a cell after all others.
func (h *Histogram) push(cell uint16, n uint32) {
	h.cells = append(h.cells, cell)
	h.counts = append(h.counts, n)
}

func (h *Histogram) clone() *Histogram {
	return &Histogram{cells: slices.Clone(h.cells), counts: slices.Clone(h.counts), packed: h.packed, start: h.start}
}

func (h *Histogram) empty() bool { return h.packed == "" && len(h.cells) == 0 }

// Count returns the number of durations counted.
func (h *Histogram) Count() int64 {
	var sum int64
	for _, n := range h.all() {
		sum += int64(n)
	}
	return sum
}

// first returns the first cell that is not empty, or 0 if all are empty.
func (h *Histogram) first() int64 {
	if h.packed != "" || len(h.cells) == 0 {
		return int64(h.start)
	}
	return int64(h.cells[0])
}

// all returns the cells that are not empty, in order.
func (h *Histogram) all() iter.Seq2[uint16, uint32] {
	return func(yield func(uint16, uint32) bool) {
		if h.packed != "" {
			h = h.clone()
			h.unpack()
		}
		for i, cell := range h.cells {
			if !yield(cell, h.counts[i]) {
				return
			}
		}
	}
}

// All returns a duration for each cell that is not empty, in ascending order, and the number of
// durations in the cell. Those are within 0.1 % (below 1 µs: within 1 µs) of the returned
// duration.
func (h *Histogram) All() iter.Seq2[time.Duration, uint32] {
	return func(yield func(time.Duration, uint32) bool) {
		for cell, n := range h.all() {
			if !yield(typical(cell), n) {
				return
			}
		}
	}
}

// Percentile returns the smallest duration that at least percent of those counted do not exceed,
// within 0.1 % (below 1 µs: within 1 µs). It returns 0 if there is none.
func (h *Histogram) Percentile(percent int64) time.Duration {
	return h.ranked((h.Count()*percent + 99) / 100)
}

// Quantile returns the same for a share from 0 to 1. The quantile of 0 is the smallest duration.
func (h *Histogram) Quantile(share float64) time.Duration {
	// A share such as 0.95 has no exact binary form. The difference must not increase the rank.
	const lack = 1e-9
	return h.ranked(int64(math.Ceil(float64(h.Count())*share - lack)))
}

// ranked returns the duration of a rank, counted from 1, or 0 if there is none.
func (h *Histogram) ranked(rank int64) time.Duration {
	for cell, n := range h.all() {
		if rank -= int64(n); rank <= 0 {
			return typical(cell)
		}
	}
	return 0
}
