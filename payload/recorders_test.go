// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// TestRecordersMatchAdd adds the same durations and counts by name and with recorders. The times
// are not in order, there are more rows and counters than the limits, and buckets widen.
func TestRecordersMatchAdd(t *testing.T) {
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 1))
		at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		byName, byPlace := New("cico", "run-1", "a", at), New("cico", "run-1", "a", at)
		places, tallies := map[Row]*RowRecorder{}, map[string]*CounterRecorder{}
		for range 20_000 {
			at = at.Add(time.Duration(float64(time.Second) * (0.1 + random.NormFloat64())))
			row, took := randomRow(random), time.Duration(1e6*random.NormFloat64())
			if places[row] == nil {
				places[row] = byPlace.RowRecorder(row)
			}
			byName.Add(row, at, took)
			places[row].Add(at, took)
			name, n := fmt.Sprint("counter ", random.IntN(300)), random.Float64()
			if tallies[name] == nil {
				tallies[name] = byPlace.CounterRecorder(name)
			}
			byName.Count(name, at, n)
			tallies[name].Count(at, n)
		}
		want, err := Marshal(byName)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Marshal(byPlace); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: other bytes than by name (%v)", seed, err)
		}
		if byName.BucketSeconds == 1 || byName.RequestBucketSeconds == firstRequestBucketSeconds {
			t.Errorf("no bucket was widened: of %d and %d s", byName.BucketSeconds, byName.RequestBucketSeconds)
		}
	}
}

func randomRow(random *rand.Rand) Row {
	row := Row{Transaction: fmt.Sprint("T", int(math.Exp(6*random.Float64()))), Outcome: []string{OK, Error}[random.IntN(2)]}
	if random.IntN(2) > 0 {
		row.Request, row.Status = strings.Repeat("/items", 1+random.IntN(2*MaxName/6)), "2xx"
	}
	return row
}

func TestRecorderCreatesNoRow(t *testing.T) {
	p := New("cico", "run-1", "a", time.Now())
	p.RowRecorder(Row{Transaction: "Check-In", Outcome: OK})
	p.CounterRecorder("iterations")
	if len(p.Series) != 0 || len(p.Counters) != 0 {
		t.Errorf("%d rows and %d counters of which nothing is known", len(p.Series), len(p.Counters))
	}
}

func TestWriteFitWritesWhatFits(t *testing.T) {
	random, at := rand.New(rand.NewPCG(1, 2)), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := New("cico", "run-1", "a", at)
	for i := range 5000 {
		p.Record("Check-In", OK, at.Add(time.Duration(i)*time.Second/20), time.Duration(1e7*math.Exp(random.NormFloat64())))
	}
	const limit = 4 << 10
	var got, want bytes.Buffer
	if err := WriteFit(&got, p, limit); err != nil {
		t.Fatal(err)
	}
	fitted, err := p.Fit(limit)
	if err != nil || fitted == p {
		t.Fatalf("it fitted as it was, or not at all: %v", err)
	}
	if err := Write(&want, fitted); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Error("WriteFit writes something else than Fit and Write")
	}
	if err := WriteFit(&got, p, 100); err == nil {
		t.Error("it fitted into 100 bytes")
	}
}
