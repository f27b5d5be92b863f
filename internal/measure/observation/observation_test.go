// SPDX-License-Identifier: Apache-2.0

package observation_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/testing/expect"
)

func newRun(phase v1alpha1.RunPhase, values ...string) *v1alpha1.PerfRun {
	run := &v1alpha1.PerfRun{}
	run.Name, run.Status.Phase = "run-1", phase
	for _, value := range values {
		run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{Metric: "m", Value: value})
	}
	return run
}

func TestReaderReportsInvalidValues(t *testing.T) {
	var reader observation.Reader
	var read []float64
	run := newRun(v1alpha1.RunSucceeded, "1.5", "fast", "NaN", "+Inf", "", "-2", "13")
	reader.Read(run.Name, observation.OfValidRun(run), func(_ *v1alpha1.Observation, value float64) error {
		if value == 13 {
			return errors.New("is unlucky")
		}
		read = append(read, value)
		return nil
	})
	expect.Equal(t, []float64{1.5, -2}, read, "values")
	faults := reader.Faults()
	for _, want := range []string{`run "run-1" is omitted: metric "m": reading "fast"`, "the value NaN is not a finite", "+Inf", `reading ""`, "is unlucky"} {
		if !slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, want) }) {
			t.Errorf("%q is not among %q", want, faults)
		}
	}
	reader.Read(run.Name, run.Status.Observations, func(*v1alpha1.Observation, float64) error { return nil })
	for range 2 {
		if faults = reader.Faults(); len(faults) != 6 || faults[5] != "4 more values are omitted" {
			t.Errorf("faults %q", faults)
		}
	}
}

func TestValuesUsesValidRuns(t *testing.T) {
	for phase, want := range map[v1alpha1.RunPhase]int{v1alpha1.RunSucceeded: 1, v1alpha1.RunInvalid: 0, v1alpha1.RunCollecting: 0, "": 0} {
		if got := len(observation.OfValidRun(newRun(phase, "1"))); got != want {
			t.Errorf("phase %q: %d observations, want %d", phase, got, want)
		}
	}
}
