// SPDX-License-Identifier: Apache-2.0

package results_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/payload"
)

// The first outage has a begin only if there is one.
func TestOutagesBegin(t *testing.T) {
	of, _ := costs(t, disturbed(func(i int) (second, bool) { return second{}, i >= 66 && i < 72 }), 0)
	expect.Equal(t, 6.0, of("outageStart"), "begin of the outage")
	expect.Equal(t, 12.0, of("recoveryTime"), "end of the outage")
	fault := lostAt(60, 40)
	observations, _ := results.ObserveFaults(&v1alpha1.Scenario{Loads: loads(users(""))}, measuredWith(disturbed(func(int) (second, bool) { return second{}, false }), fault),
		v1alpha1.Measurement{}, []v1alpha1.RunFault{fault})
	if _, exists := values(observations)["cico/outageStart@fault-lost"]; exists {
		t.Errorf("without an outage there are %v", observations)
	}
}

// lagging has a lag of 2 to 4 messages until a fault after 60 s, and then another one.
func lagging(after func(second int) float64) *payload.Samples {
	recorder := payload.NewSampleRecorder("run", "collector", at(0))
	for second := 0; second <= 120; second += 5 {
		recorder.Round(at(second), 5*time.Second)
		lag := 2 + float64(second%3)
		if second > 60 {
			lag = after(second)
		}
		recorder.Record("kafka", "", "consumerLag", "1", at(second), lag)
	}
	return recorder.Samples
}

func TestObserveLags(t *testing.T) {
	fault := lostAt(60, 40)
	undisturbed := measuredWith(disturbed(func(int) (second, bool) { return second{}, false }), fault)
	scenario := &v1alpha1.Scenario{Loads: loads(users("")), Faults: []v1alpha1.Fault{{Name: fault.Name}}}
	warmUp := v1alpha1.Measurement{WarmUp: &metav1.Duration{Duration: 10 * time.Second}}
	for name, tc := range map[string]struct {
		after               func(second int) float64
		highest, drain, say string
	}{
		"as before":    {func(int) float64 { return 4 }, "4 1", "0 s", ""},
		"drained":      {func(second int) float64 { return float64(max(0, 400-20*(second-60))) }, "300 1", "19.7 s", ""},
		"grows":        {func(second int) float64 { return float64(10 * (second - 60)) }, "400 1", "40 s", "the lag of Kafka's consumers was above 4 at the end of the observation"},
		"twice":        {func(second int) float64 { return map[bool]float64{true: 9, false: 1}[second == 65 || second == 80] }, "9 1", "24.7 s", ""},
		"nothing left": {func(int) float64 { return 0 }, "0 1", "0 s", ""},
	} {
		t.Run(name, func(t *testing.T) {
			observations, sentences := results.ObserveLags(scenario, undisturbed, warmUp, lagging(tc.after), []v1alpha1.RunFault{fault})
			got := values(observations)
			expect.Equal(t, tc.highest, got["kafka/consumerLag/max@fault-lost"], "highest lag")
			expect.Equal(t, tc.drain, got["kafka/consumerLag/drainTime@fault-lost"], "drain time")
			if said := strings.Join(sentences, " "); (said == "") != (tc.say == "") || !strings.Contains(said, tc.say) {
				t.Errorf("sentences %q, want %q", sentences, tc.say)
			}
		})
	}
	late := v1alpha1.Measurement{WarmUp: &metav1.Duration{Duration: 60100 * time.Millisecond}}
	if observations, sentences := results.ObserveLags(scenario, undisturbed, late, lagging(func(int) float64 { return 4 }), []v1alpha1.RunFault{fault}); len(observations) > 0 || !strings.Contains(strings.Join(sentences, " "), "was not sampled between the warm-up and fault \"lost\"") {
		t.Errorf("without samples before the fault there are %v, %q", observations, sentences)
	}
	notBegun := []v1alpha1.RunFault{{Name: fault.Name}}
	if observations, sentences := results.ObserveLags(scenario, undisturbed, warmUp, lagging(func(int) float64 { return 4 }), notBegun); len(observations)+len(sentences) > 0 {
		t.Errorf("of a fault that did not begin there are %v, %q", observations, sentences)
	}
	if observations, sentences := results.ObserveLags(scenario, undisturbed, warmUp, nil, []v1alpha1.RunFault{fault}); len(observations)+len(sentences) > 0 {
		t.Errorf("without samples there are %v, %q", observations, sentences)
	}
}
