// SPDX-License-Identifier: Apache-2.0

package payload

import "time"

// RowRecorder is one row's, for who adds to the same rows again and again: the row is
// looked for once. It counts, like Payload.Add, where its row is kept or where it
// is added up with others, which is settled when something is added first. It is
// good while nothing but adding, counting and setting is done to its payload.
type RowRecorder struct {
	payload *Payload
	row     Row
	found   bool
	series  int // in the payload's
}

// RowRecorder is that of a row. It makes none before something is added.
func (p *Payload) RowRecorder(row Row) *RowRecorder { return &RowRecorder{payload: p, row: row} }

// Add does what Payload.Add does.
func (l *RowRecorder) Add(at time.Time, d time.Duration) {
	if !l.found {
		l.series, l.found = l.payload.rowIndex(l.row), true
	}
	l.payload.addTo(&l.payload.Series[l.series], at, d)
}

// CounterRecorder is the same of a counter.
type CounterRecorder struct {
	payload *Payload
	name    string
	found   bool
	counter int // in the payload's
}

// CounterRecorder is that of a counter. It makes none before something is counted.
func (p *Payload) CounterRecorder(counter string) *CounterRecorder {
	return &CounterRecorder{payload: p, name: counter}
}

// Count does what Payload.Count does.
func (t *CounterRecorder) Count(at time.Time, n float64) {
	if !t.found {
		t.counter, t.found = t.payload.counterIndex(t.name), true
	}
	t.payload.countTo(&t.payload.Counters[t.counter], at, n)
}
