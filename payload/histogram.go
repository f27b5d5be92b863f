// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"iter"
	"math"
	"slices"
	"time"
)

const (
	// growth is the ratio of neighbouring cells' beginnings. A value of the cell
	// that begins at v is within (growth-1)/(growth+1) < 0.1 % of v·middle.
	growth = 1.002
	middle = 2 * growth / (growth + 1)
	// longest is the longest duration a histogram tells apart. Longer ones count
	// as this; Sum and Max stay exact.
	longest = 7 * 24 * time.Hour
)

var (
	logGrowth = math.Log(growth)
	// lastCell is the cell of the longest duration.
	lastCell = cellIndex(longest)
)

// Histogram counts durations in cells that are each 0.2 % wide. Its memory
// grows with the cells used, about 2,400 for response times that spread over
// two orders of magnitude, and not with the durations counted.
//
// These are the cells of a DDSketch (Masson, Rim and Lee, 2019): a third as many
// as an HdrHistogram needs for the same accuracy, which halves a payload.
type Histogram struct {
	cells  []uint16 // sorted
	counts []uint32 // of the same places

	// packed is the text of all cells from the first on instead, a sixth as
	// large; never changed.
	packed string
	start  uint16
}

// pack makes h small until something is added to it.
func (h *Histogram) pack() {
	if len(h.cells) > 0 {
		*h = Histogram{packed: string(h.appendText(nil)), start: h.cells[0]}
	}
}

// size returns the memory it takes, in bytes, where it is small.
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
	// It was written by pack, so there is no error to see.
	_ = h.parseText(int64(start), text)
}

// cellIndex returns the cell that holds d.
func cellIndex(d time.Duration) int {
	if d < time.Microsecond {
		return 0
	}
	return 1 + int(math.Log(float64(d)/float64(time.Microsecond))/logGrowth)
}

// typical returns the duration that is within 0.1 % of any in the cell.
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

// push adds a cell behind all others.
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

// first returns the first cell that is not empty, 0 if all are.
func (h *Histogram) first() int64 {
	if h.packed != "" || len(h.cells) == 0 {
		return int64(h.start)
	}
	return int64(h.cells[0])
}

// all returns the cells that are not empty, in their order.
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

// All gives, from the shortest on, a duration that is within 0.1 % (below 1 µs: within
// 1 µs) of those in a cell, and how many these are.
func (h *Histogram) All() iter.Seq2[time.Duration, uint32] {
	return func(yield func(time.Duration, uint32) bool) {
		for cell, n := range h.all() {
			if !yield(typical(cell), n) {
				return
			}
		}
	}
}

// Percentile returns within 0.1 % (below 1 µs: within 1 µs) of the smallest duration that
// at least percent of those counted do not exceed; 0 if there is none.
func (h *Histogram) Percentile(percent int64) time.Duration {
	return h.ranked((h.Count()*percent + 99) / 100)
}

// Quantile returns the same for a share from 0 to 1; that of 0 is the smallest.
func (h *Histogram) Quantile(share float64) time.Duration {
	// A share such as 0.95 is no binary number: what it lacks makes no rank.
	const lack = 1e-9
	return h.ranked(int64(math.Ceil(float64(h.Count())*share - lack)))
}

// ranked returns the duration of a rank, from 1; 0 if there is none.
func (h *Histogram) ranked(rank int64) time.Duration {
	for cell, n := range h.all() {
		if rank -= int64(n); rank <= 0 {
			return typical(cell)
		}
	}
	return 0
}
