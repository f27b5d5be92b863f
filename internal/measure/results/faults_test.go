// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"math"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/payload"
)

// second of a load: the number of successful and failed check-ins, and their duration.
type second struct {
	ok, failed int
	took       time.Duration
}

// disturbed is two minutes with twenty check-ins of 100 ms in each second, except in some.
func disturbed(differ func(second int) (second, bool)) *payload.Payload {
	p := payload.New("cico", "run", "1", start)
	for i := range 120 {
		one := second{ok: 20, took: 100 * time.Millisecond}
		if other, differs := differ(i); differs {
			one = other
		}
		for range one.ok {
			p.Record("Check-In", payload.OK, at(i), one.took)
		}
		for range one.failed {
			p.Record("Check-In", payload.Error, at(i), one.took)
		}
	}
	p.End, p.Final = at(120), true
	return p
}

// lostAt is a fault that begins within a second.
func lostAt(begin, observe int) v1alpha1.RunFault {
	from := metav1.NewMicroTime(at(begin).Add(300 * time.Millisecond))
	end := metav1.NewMicroTime(from.Add(time.Duration(observe) * time.Second))
	return v1alpha1.RunFault{Name: "lost", Begin: &from, End: &end}
}

func measuredWith(p *payload.Payload, faults ...v1alpha1.RunFault) map[string]results.Measured {
	measured := measurements(p)
	results.SetDisturbed(measured, faults)
	return measured
}

// costs returns the costs of a fault after 60 s that is observed for 40 s, with an objective.
func costs(t *testing.T, p *payload.Payload, objective time.Duration) (of func(statistic string) float64, sentences []string) {
	t.Helper()
	fault := lostAt(60, 40)
	scenario := &v1alpha1.Scenario{Loads: loads(users("")), Faults: []v1alpha1.Fault{{Name: fault.Name, Objective: &metav1.Duration{Duration: objective}}}}
	observations, sentences := results.ObserveFaults(scenario, measuredWith(p, fault), v1alpha1.Measurement{WarmUp: &metav1.Duration{Duration: 10 * time.Second}}, []v1alpha1.RunFault{fault})
	return func(statistic string) float64 {
		number, err := decimal.Parse(value(t, observations, "cico/"+statistic+"@fault-lost").Value)
		expect.NoError(t, err)
		return number
	}, sentences
}

func TestObserveFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		differ                     func(int) (second, bool)
		lost, errors, excess, back float64
	}{
		"nothing happens":             {func(int) (second, bool) { return second{}, false }, 0, 0, 0, 0},
		"nothing is answered for 5 s": {func(i int) (second, bool) { return second{}, i >= 60 && i < 65 }, 5, 0, 0, 6},
		"all fail for 5 s":            {func(i int) (second, bool) { return second{failed: 40}, i >= 60 && i < 65 }, 5, 200, 0, 6},
		"half the rate, twice as slow, for 10 s": {
			func(i int) (second, bool) { return second{ok: 10, took: 200 * time.Millisecond}, i >= 70 && i < 80 }, 5, 0, 10, 0,
		},
		"an outage, and another": {
			func(i int) (second, bool) { return second{}, i >= 60 && i < 63 || i >= 81 && i < 84 }, 6, 0, 0, 24,
		},
		"what waited is done later": {func(i int) (second, bool) {
			if i == 66 {
				return second{ok: 120, took: 3 * time.Second}, true
			}
			return second{}, i >= 60 && i < 65
		}, 0, 0, 348, 6},
		"errors as before": {func(int) (second, bool) { return second{ok: 20, failed: 5, took: 100 * time.Millisecond}, true }, 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			of, sentences := costs(t, disturbed(tc.differ), 0)
			for statistic, want := range map[string]float64{"lostTime": tc.lost, "excessErrors": tc.errors, "excessTime": tc.excess, "recoveryTime": tc.back} {
				if got := of(statistic); math.Abs(got-want) > 0.01 {
					t.Errorf("%s = %v, want %v", statistic, got, want)
				}
			}
			expect.Equal(t, 0, len(sentences), "sentences %q", sentences)
		})
	}
}

// With an objective, slow transactions are missing, too, but are no errors.
func TestObserveFaultsWithObjective(t *testing.T) {
	slow := disturbed(func(i int) (second, bool) { return second{ok: 10, took: 200 * time.Millisecond}, i >= 70 && i < 80 })
	for objective, want := range map[time.Duration]struct{ lost, back float64 }{
		0: {5, 0}, 150 * time.Millisecond: {10, 21}, 300 * time.Millisecond: {5, 0},
	} {
		of, sentences := costs(t, slow, objective)
		for statistic, want := range map[string]float64{"lostTime": want.lost, "recoveryTime": want.back, "excessErrors": 0, "excessTime": 10} {
			if got := of(statistic); math.Abs(got-want) > 0.01 {
				t.Errorf("objective %s: %s = %v, want %v", objective, statistic, got, want)
			}
		}
		expect.Equal(t, 0, len(sentences), "sentences %q", sentences)
	}
	fault := lostAt(60, 40)
	scenario := &v1alpha1.Scenario{Loads: loads(users("")), Faults: []v1alpha1.Fault{{Name: fault.Name, Objective: &metav1.Duration{Duration: time.Millisecond}}}}
	observations, sentences := results.ObserveFaults(scenario, measuredWith(slow, fault), v1alpha1.Measurement{}, []v1alpha1.RunFault{fault})
	if len(observations) > 0 || len(sentences) != 1 || !strings.Contains(sentences[0], "no transaction succeeded within its objective of 1ms before fault") {
		t.Errorf("observations %v, sentences %q", observations, sentences)
	}
}

// The recovery time has an end only if the load recovers, and is known only for a large enough
// load.
func TestRecoveryIsCensored(t *testing.T) {
	of, sentences := costs(t, disturbed(func(i int) (second, bool) { return second{failed: 1}, i >= 60 }), 0)
	if got := of("recoveryTime"); got < 39 || len(sentences) != 1 || !strings.Contains(sentences[0], "had not recovered") {
		t.Errorf("recovery time %v, sentences %q", got, sentences)
	}
	few := disturbed(func(i int) (second, bool) { return second{ok: i % 2, took: 100 * time.Millisecond}, true })
	fault := lostAt(60, 40)
	observations, sentences := results.ObserveFaults(&v1alpha1.Scenario{Loads: loads(users(""))}, measuredWith(few, fault), v1alpha1.Measurement{}, []v1alpha1.RunFault{fault})
	for _, one := range observations {
		if strings.Contains(one.Metric, "recoveryTime") {
			t.Errorf("observed %+v", one)
		}
	}
	if len(sentences) != 1 || !strings.Contains(sentences[0], "raise the load") {
		t.Errorf("sentences %q", sentences)
	}
}

// Metrics without a window, and the check of errors, end at the first fault.
func TestFaultsEndWhatCounts(t *testing.T) {
	p := disturbed(func(i int) (second, bool) { return second{failed: 20, took: time.Second}, i >= 60 })
	fault := lostAt(60, 40)
	measured := measuredWith(p, fault)
	observations := results.Observe(loads(users("")), measured, v1alpha1.Measurement{})
	expect.Equal(t, "0", value(t, observations, "cico/Check-In/errors").Value, "the error share")
	expect.Equal(t, "1200", value(t, observations, "cico/Check-In/samples").Value, "the number of check-ins")
	if judged := results.Judge(loads(users("")), measured, v1alpha1.Measurement{}, v1alpha1.Validity{}); judged.Fault != nil {
		t.Errorf("a run with its declared fault is invalid: %v", judged.Fault)
	}
	if judged := results.Judge(loads(users("")), measurements(p), v1alpha1.Measurement{}, v1alpha1.Validity{}); judged.Fault == nil {
		t.Error("a run with half of its check-ins failed is valid")
	}
}

// Records that an import loses after a fault are a result.
func TestDisturbedImportsCount(t *testing.T) {
	p := imported(t, 1, 1, 390, 10)
	for name, tc := range map[string]struct {
		begin int
		valid bool
	}{"during the import": {5, true}, "before the import": {-5, true}, "after the import": {20, false}} {
		judged := results.Judge(loads(imports(1, 400)), measuredWith(p, lostAt(tc.begin, 40)), v1alpha1.Measurement{}, v1alpha1.Validity{})
		if (judged.Fault == nil) != tc.valid {
			t.Errorf("with a fault %s: %v", name, judged.Fault)
		}
	}
}

func TestCheckFaults(t *testing.T) {
	declared := v1alpha1.Fault{Name: "lost"}
	calm := disturbed(func(int) (second, bool) { return second{}, false })
	for name, tc := range map[string]struct {
		statuses []v1alpha1.RunFault
		want     string
	}{
		"as declared":     {[]v1alpha1.RunFault{lostAt(60, 40)}, ""},
		"without a time":  {nil, `the loads ended before fault "lost" began`},
		"not begun":       {[]v1alpha1.RunFault{{Name: "lost"}}, `the loads ended before fault "lost" began`},
		"observed longer": {[]v1alpha1.RunFault{lostAt(100, 40)}, "ended 20.3s before the observation"},
	} {
		t.Run(name, func(t *testing.T) {
			scenario := v1alpha1.Scenario{Loads: loads(users("")), Faults: []v1alpha1.Fault{declared}}
			fault := results.CheckFaults(&scenario, tc.statuses, measurements(calm))
			if (fault == nil) != (tc.want == "") {
				t.Fatalf("fault %v, want %q", fault, tc.want)
			}
			if fault != nil && (fault.Reason != v1alpha1.ReasonFaultNotInjected || !strings.Contains(fault.Message, tc.want)) {
				t.Errorf("fault %+v, want %q", fault, tc.want)
			}
		})
	}
}

func TestObserveRecovery(t *testing.T) {
	fault := lostAt(60, 40)
	p := disturbed(func(i int) (second, bool) { return second{ok: 10, took: 100 * time.Millisecond}, i >= 62 && i < 64 })
	points := results.ObserveRecovery(users(""), measuredWith(p, fault), v1alpha1.Measurement{}, 0, fault)
	expect.Equal(t, 40, len(points), "points")
	for i, point := range points {
		want := 100.0
		if i == 2 || i == 3 {
			want = 50
		}
		if point.Percent != want || point.After != time.Duration(i)*time.Second+500*time.Millisecond {
			t.Errorf("point %d is %+v, want %v %%", i, point, want)
		}
	}
}
