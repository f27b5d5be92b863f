// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestProgressLine(t *testing.T) {
	s := newSource()
	r := newRecorder("cico", "run-1", "a", scripted(""))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.add(s.sample(s.builtin.VUs, at, 8))
	for i := range 100 {
		r.add(s.trail(s.requestTags("Check-In", "GET /a", 200), at, 30*time.Millisecond, false))
		r.add(s.sample(s.transaction, at, float64(i+1), "transaction", "Check-In", "outcome", "ok"))
	}
	for range 25 {
		r.add(s.sample(s.transaction, at, 9999, "transaction", "Check-In", "outcome", "error"))
	}
	line := func(now time.Time) string {
		t.Helper()
		text, err := r.progress.line(now, r.total)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const first = `perflab-progress {"at":"2026-01-02T03:04:15Z","users":8,"requestsPerSecond":10,"requests":100,"errorPercent":20,"p95":{"Check-In":9`
	if got := line(at.Add(10 * time.Second)); !strings.HasPrefix(got, first) || strings.Contains(got, "records") || !strings.HasSuffix(got, "}\n") {
		t.Errorf("progress %s, want %s…", got, first)
	}
	r.add(s.trail(s.requestTags("Check-In", "GET /a", 500), at, 30*time.Millisecond, true))
	r.add(s.sample(s.done, at, 1200))
	for i := range 2 * maxProgressTransactions {
		r.add(s.sample(s.transaction, at, 1, "transaction", fmt.Sprint("T", i), "outcome", "ok"))
	}
	got := line(at.Add(20 * time.Second))
	if !strings.Contains(got, `"requestsPerSecond":0.1,"requests":101,`) || !strings.Contains(got, `"records":1200}`) || strings.Count(got, `"T`) != maxProgressTransactions-1 {
		t.Errorf("progress %s", got)
	}
}

func TestCheckpointsSpreadAsTheyGrow(t *testing.T) {
	tests := []struct {
		age  time.Duration
		size int
		want time.Duration
	}{
		{time.Minute, 44 << 10, time.Minute},
		{20 * time.Minute, 44 << 10, time.Minute},
		{2 * time.Hour, 4 << 10, time.Minute},
		{2 * time.Hour, 64 << 10, 7*time.Minute + 30*time.Second},
		{24 * time.Hour, 64 << 10, 90 * time.Minute},
	}
	for _, tt := range tests {
		if got := spacing(time.Minute, tt.age, tt.size); got != tt.want {
			t.Errorf("after %v with %d bytes: %v, want %v", tt.age, tt.size, got, tt.want)
		}
	}
}
