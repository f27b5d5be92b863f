// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"
	"testing"
)

func TestRatiosAreWithinRounds(t *testing.T) {
	runs := map[string]*measured{
		without: {turns: []turn{{100, 1}, {50, 1}, {80, 1}}, peak: mib},
		ours:    {turns: []turn{{98, 1}, {49, 2}, {40, 1}}, peak: 2 * mib},
	}
	if got := ratio(runs[ours], runs[without], rate); got != 0.98 {
		t.Errorf("ratio %v, want the median 0.98 of 0.98, 0.98 and 0.5", got)
	}
	var text strings.Builder
	printTable(&text, []candidate{{name: without}, {name: ours}}, runs)
	if lines := strings.Split(text.String(), "\n"); !strings.Contains(lines[2], "0.980") || !strings.Contains(lines[2], "2.00") || !strings.Contains(lines[1], "80.0") {
		t.Errorf("table\n%s", text.String())
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median of four is %v", got)
	}
}

func TestVerdict(t *testing.T) {
	keeping := func(shares ...float64) map[string]*measured {
		runs := map[string]*measured{without: {}, ours: {}}
		for range 4 {
			for _, share := range shares {
				runs[without].turns = append(runs[without].turns, turn{rate: 100, cpu: 1})
				runs[ours].turns = append(runs[ours].turns, turn{rate: 100 * share, cpu: 1})
			}
		}
		return runs
	}
	for name, tt := range map[string]struct {
		runs map[string]*measured
		says string
	}{
		"enough":      {keeping(0.97, 0.98, 1.02, 0.99), ""},
		"too little":  {keeping(0.90, 0.91, 0.93, 0.92), "less than 95 %"},
		"not certain": {keeping(0.70, 0.80, 1.20, 1.30), "quieter machine"},
	} {
		err := verdict(tt.runs)
		if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
	}
}

func TestTheTargetCounts(t *testing.T) {
	target, err := startTarget()
	if err != nil {
		t.Fatal(err)
	}
	defer target.stop()
	for range 3 {
		response, err := get(t.Context(), target.url)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatal(response, err)
		}
		_ = response.Body.Close()
	}
	if got := target.requests.Load(); got != 3 {
		t.Errorf("%d requests counted", got)
	}
}
