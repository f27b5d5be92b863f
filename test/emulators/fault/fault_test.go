// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		annotation string
		want       Faults
		wantErr    bool
	}{
		"no annotation":        {"", Faults{}, false},
		"one without argument": {"pods-refused", Faults{PodsRefused: ""}, false},
		"several, with spaces": {" runner-exit=2:99 , starter-misses=1", Faults{RunnerExit: "2:99", StarterMisses: "1"}, false},
		"a misspelled one":     {"pods-refussed", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse(map[string]string{Annotation: tc.annotation})
			if (err != nil) != tc.wantErr {
				t.Fatalf("error %v, want one: %t", err, tc.wantErr)
			}
			expect.Equal(t, tc.want, got)
		})
	}
}

func TestWithout(t *testing.T) {
	for name, tc := range map[string]struct {
		before string
		want   map[string]string
	}{
		"the only one":          {"broker-lost=1", map[string]string{"other": "x"}},
		"one of two":            {"pods-refused, broker-lost=1", map[string]string{"other": "x", Annotation: "pods-refused"}},
		"not in the annotation": {"pods-refused", map[string]string{"other": "x", Annotation: "pods-refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := map[string]string{"other": "x", Annotation: tc.before}
			expect.Equal(t, tc.want, Without(before, BrokerLost))
			if before[Annotation] != tc.before {
				t.Error("the caller's annotations changed")
			}
		})
	}
}
