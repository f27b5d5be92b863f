// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// course is ten minutes of check-ins: the number per second, and their duration in milliseconds.
func course(rate, took func(second int) float64) *payload.Payload {
	p := payload.New("cico", "run", "1", start)
	due := 0.0
	for second := range 600 {
		for due += rate(second); due >= 1; due-- {
			p.Record("Check-In", "ok", at(second), time.Duration(took(second)*float64(time.Millisecond)))
		}
	}
	p.End, p.Final = at(600), true
	return p
}

// noisy is log-normal around the values of another function.
func noisy(of func(second int) float64) func(second int) float64 {
	random := rand.New(rand.NewPCG(5, 6))
	return func(second int) float64 { return of(second) * math.Exp(0.5*random.NormFloat64()) }
}

// steps takes pairs of a second and the value from then on.
func steps(pairs ...float64) func(second int) float64 {
	return func(second int) float64 {
		value := 0.0
		for i := 0; i < len(pairs); i += 2 {
			if float64(second) >= pairs[i] {
				value = pairs[i+1]
			}
		}
		return value
	}
}

func TestStillWarming(t *testing.T) {
	importing := func(from, to int) results.Measured {
		return results.Measured{Start: at(from), End: at(to)}
	}
	for name, test := range map[string]struct {
		rate, took func(second int) float64
		warmUp     time.Duration
		others     map[string]results.Measured
		want       string
	}{
		"steady": {rate: steps(0, 2), took: noisy(steps(0, 200))},
		"cold for two minutes": {
			rate: steps(0, 1, 120, 2), took: noisy(steps(0, 900, 60, 500, 120, 200)),
			want: "set measurement.warmUp to 2m",
		},
		"cold for half a minute, some 15 s long": {
			rate: steps(0, 0.2, 30, 2), took: noisy(steps(0, 15000, 30, 200)), want: "set measurement.warmUp to 30s, and lengthen",
		},
		"cold, with a warm-up that is too short": {
			rate: steps(0, 1, 120, 2), took: steps(0, 900, 120, 200), warmUp: time.Minute, want: "in the first measured 56s and 203 ms afterwards: the system was still warming up; set measurement.warmUp to 2m, and lengthen the load by the difference",
		},
		"cold, within its warm-up":       {rate: steps(0, 1, 120, 2), took: steps(0, 900, 120, 200), warmUp: 2 * time.Minute},
		"a little slower at first":       {rate: steps(0, 2), took: noisy(steps(0, 220, 120, 200))},
		"slower for too short to matter": {rate: steps(0, 2), took: steps(0, 260, 25, 200)},
		"one pause in the beginning": {rate: steps(0, 2), took: func(second int) float64 {
			if second == 3 {
				return 30000
			}
			return 200
		}},
		"rising":                       {rate: steps(0, 2), took: noisy(steps(0, 200, 300, 400))},
		"less load at the end":         {rate: steps(0, 4, 300, 1), took: steps(0, 400, 300, 200)},
		"few transactions":             {rate: steps(0, 0.15), took: steps(0, 900, 120, 200)},
		"a pause before anything ends": {rate: steps(0, 0, 28, 2), took: steps(0, 28000, 30, 200)},
		"an import is on all the time": {rate: steps(0, 1, 120, 2), took: steps(0, 900, 120, 200), others: map[string]results.Measured{"create": importing(-10, 700)}},
		"an import ends in between":    {rate: steps(0, 2), took: steps(0, 400, 200, 200), others: map[string]results.Measured{"create": importing(-10, 200)}},
		"an import begins afterwards":  {rate: steps(0, 2), took: steps(0, 400, 60, 200, 400, 900), others: map[string]results.Measured{"create": importing(400, 700)}, want: "set measurement.warmUp to 1m,"},
		"other users end":              {rate: steps(0, 2), took: steps(0, 400, 200, 200), others: map[string]results.Measured{"others": importing(0, 200)}},
	} {
		measured := measurements(course(test.rate, test.took))
		all := loads(users(""))
		for other, own := range test.others {
			load := v1alpha1.Load{Name: other}
			if other == "create" {
				load.DataImport = &v1alpha1.DataImport{Records: 1, Imports: 1}
			}
			all, measured[other] = append(all, load), own
		}
		told := ""
		for _, load := range results.StillWarming(all, measured, warmUp(test.warmUp)) {
			told += load.Message
		}
		if !strings.Contains(told, test.want) || (told == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, told, test.want)
		}
	}
}

// Chance hardly ever causes the advice, with log-normal response times, as few as are analyzed.
func TestNoiseIsSeldomTakenForWarmth(t *testing.T) {
	for name, rate := range map[string]float64{"few": 0.21, "many": 3} {
		random, alarms := rand.New(rand.NewPCG(7, 8)), 0
		const runs = 100
		for range runs {
			p := course(steps(0, rate), func(int) float64 { return 200 * math.Exp(0.5*random.NormFloat64()) })
			if len(results.StillWarming(loads(users("")), measurements(p), v1alpha1.Measurement{})) > 0 {
				alarms++
			}
		}
		if alarms > runs*2/100 {
			t.Errorf("%s: %d of %d steady runs were told to warm up", name, alarms, runs)
		}
	}
}

func TestWhatIsNotLookedAtForWarmth(t *testing.T) {
	cold := course(steps(0, 2), steps(0, 900, 120, 200))
	small, _ := importFrom("cico", 0, 600)
	for name, test := range map[string]struct {
		load v1alpha1.Load
		own  results.Measured
	}{
		"an import":            {small, results.FromHistograms(cold)},
		"a summary":            {users(""), results.Measured{Summary: &results.Summary{}, Start: at(0), End: at(600)}},
		"a load without times": {users(""), results.Measured{}},
	} {
		if told := results.StillWarming(loads(test.load), map[string]results.Measured{"cico": test.own}, v1alpha1.Measurement{}); len(told) > 0 {
			t.Errorf("%s: %q", name, told)
		}
	}
}

func TestAdvisedWarmUp(t *testing.T) {
	told := results.StillWarming(loads(users("")), measurements(course(steps(0, 2), steps(0, 900, 120, 200))), v1alpha1.Measurement{})
	if len(told) != 1 {
		t.Fatalf("%q, want one sentence", told)
	}
	if got := told[0].WarmUp; got < 2*time.Minute || got > 3*time.Minute || !strings.Contains(told[0].Message, "warmUp to "+prose.Duration(got)+",") {
		t.Errorf("of %q the advice is %s", told[0].Message, got)
	}
}
