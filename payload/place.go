// SPDX-License-Identifier: Apache-2.0

package payload

import "time"

// Place is one row's, for who adds to the same rows again and again: the row is
// looked for once. It counts, like Payload.Add, where its row is kept or where it
// is added up with others, which is settled when something is added first. It is
// good while nothing but adding, counting and setting is done to its payload.
type Place struct {
	payload *Payload
	row     Row
	found   bool
	series  int // in the payload's
}

// Place is that of a row. It makes none before something is added.
func (p *Payload) Place(row Row) *Place { return &Place{payload: p, row: row} }

// Add does what Payload.Add does.
func (l *Place) Add(at time.Time, d time.Duration) {
	if !l.found {
		l.series, l.found = l.payload.place(l.row), true
	}
	l.payload.addTo(&l.payload.Series[l.series], at, d)
}

// Tally is the same of a counter.
type Tally struct {
	payload *Payload
	name    string
	found   bool
	counter int // in the payload's
}

// Tally is that of a counter. It makes none before something is counted.
func (p *Payload) Tally(counter string) *Tally { return &Tally{payload: p, name: counter} }

// Count does what Payload.Count does.
func (t *Tally) Count(at time.Time, n float64) {
	if !t.found {
		t.counter, t.found = t.payload.counterPlace(t.name), true
	}
	t.payload.countTo(&t.payload.Counters[t.counter], at, n)
}
