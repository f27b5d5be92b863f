// SPDX-License-Identifier: Apache-2.0

package payload

import "time"

// RowRecorder records durations in one row, and looks the row up only once. Like Payload.Add, it
// uses the row itself, or the row for all others if the limit is exceeded. The first duration
// decides which. A recorder stays valid only while the payload is changed by Add, Count and Set.
type RowRecorder struct {
	payload *Payload
	row     Row
	found   bool
	series  int // index in the payload's series
}

// RowRecorder returns the recorder of a row. It creates the row with the first duration.
func (p *Payload) RowRecorder(row Row) *RowRecorder { return &RowRecorder{payload: p, row: row} }

// Add is Payload.Add for the row.
func (l *RowRecorder) Add(at time.Time, d time.Duration) {
	if !l.found {
		l.series, l.found = l.payload.rowIndex(l.row), true
	}
	l.payload.addTo(&l.payload.Series[l.series], at, d)
}

// CounterRecorder does the same for a counter.
type CounterRecorder struct {
	payload *Payload
	name    string
	found   bool
	counter int // index in the payload's counters
}

// CounterRecorder returns the recorder of a counter. It creates the counter with the first
// count.
func (p *Payload) CounterRecorder(counter string) *CounterRecorder {
	return &CounterRecorder{payload: p, name: counter}
}

// Count is Payload.Count for the counter.
func (t *CounterRecorder) Count(at time.Time, n float64) {
	if !t.found {
		t.counter, t.found = t.payload.counterIndex(t.name), true
	}
	t.payload.countTo(&t.payload.Counters[t.counter], at, n)
}
