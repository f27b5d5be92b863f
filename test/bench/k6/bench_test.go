// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/expect"
)

// turns returns turns with the given CPU times of an iteration, in milliseconds.
func turns(milliseconds ...float64) []turn {
	var all []turn
	for _, ms := range milliseconds {
		all = append(all, turn{used: used{cpu: time.Duration(ms * 1e6), took: time.Second}, iterations: 1, peak: 50 * mib})
	}
	return all
}

func TestRatiosArePerRound(t *testing.T) {
	base, own := turns(10, 20, 12, 40, 10, 16), turns(10.2, 20.4, 12.24, 40.8, 20, 16.32)
	middle, low, high := interval(logRatios(own, base, cpu))
	if math.Abs(middle-1.02) > 1e-6 || low > 1.02+1e-6 || high < 1.02 {
		t.Errorf("ratio %v from %v to %v, want 1.02 in spite of one round that was disturbed", middle, low, high)
	}
	var text strings.Builder
	printTable(&text, []candidate{{name: without}, {name: ours}}, map[string][]turn{without: base, ours: own})
	if lines := strings.Split(text.String(), "\n"); !strings.Contains(lines[2], "1.020") || !strings.Contains(lines[2], " - ") || !strings.Contains(lines[1], "14.00 ms") {
		t.Errorf("table\n%s", text.String())
	}
}

// TestIntervalCoverage draws benchmarks with a known ratio.
func TestIntervalCoverage(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const benchmarks, truth = 2000, 0.02
	for _, rounds := range []int{6, 14, 40} {
		holds := 0
		for range benchmarks {
			logs := make([]float64, rounds)
			for i := range logs {
				logs[i] = truth + 0.05*random.NormFloat64()
			}
			if _, low, high := interval(logs); math.Log(low) <= truth && truth <= math.Log(high) {
				holds++
			}
		}
		if share := float64(holds) / benchmarks; share < 0.93 {
			t.Errorf("of intervals over %d rounds %.3f hold the truth, want 0.95", rounds, share)
		}
	}
}

func TestVerdict(t *testing.T) {
	candidates := []candidate{{name: without}, {name: ours}, {name: "csv"}}
	compared := func(other float64, ratios ...float64) map[string][]turn {
		runs := map[string][]turn{}
		for range 4 {
			for _, ratio := range ratios {
				runs[without] = append(runs[without], turns(10)...)
				runs[ours] = append(runs[ours], turns(10*ratio)...)
				runs["csv"] = append(runs["csv"], turns(10*other)...)
			}
		}
		return runs
	}
	for name, tt := range map[string]struct {
		runs    map[string][]turn
		message string
	}{
		"little":          {compared(1.2, 1.01, 1.02, 1.00, 1.01), ""},
		"too much":        {compared(1.2, 1.09, 1.10, 1.11, 1.10), "more than 1.03"},
		"not certain":     {compared(1.9, 0.70, 0.80, 1.20, 1.40), "quieter machine"},
		"not the least":   {compared(0.9, 1.01, 1.02, 1.00, 1.01), "which is not less"},
		"little, but not": {compared(1.2, 1.035, 1.04, 1.02, 1.045), "quieter machine"},
	} {
		err := verdict(candidates, tt.runs)
		if (err == nil) != (tt.message == "") || err != nil && !strings.Contains(err.Error(), tt.message) {
			t.Errorf("%s: %v, want %q", name, err, tt.message)
		}
	}
}

func TestTargetMarksRequests(t *testing.T) {
	target, err := startTarget()
	expect.NoError(t, err)
	defer target.stop()
	var marked []int
	note := func() { marked = append(marked, target.requests) }
	target.expect(map[int]func(){2: note, 3: note})
	for range 4 {
		response, err := get(t.Context(), target.url)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		_ = response.Body.Close()
	}
	if got := target.seen(); got != 4 || len(marked) != 2 || marked[0] != 2 || marked[1] != 3 {
		t.Errorf("%d requests counted, marks at %v", got, marked)
	}
}

func TestMeter(t *testing.T) {
	m, err := newMeter(os.Getpid())
	expect.NoError(t, err)
	const spent = 100 * time.Millisecond
	for before := m.cpu; ; {
		now, err := cpuTime(os.Getpid())
		expect.NoError(t, err)
		if now-before >= spent {
			break
		}
	}
	u, err := m.read()
	if err != nil || u.cpu < spent || u.cpu > u.took*4+spent {
		t.Errorf("used %+v, want at least %v (%v)", u, spent, err)
	}
	if len(m.counters) > 0 && u.instructions < 1e6 {
		t.Errorf("%v instructions in %v", u.instructions, u.cpu)
	}
	if _, err := newMeter(1 << 25); err == nil {
		t.Error("a missing process has a CPU time")
	}
}
