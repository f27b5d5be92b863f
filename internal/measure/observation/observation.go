// SPDX-License-Identifier: Apache-2.0

// Package observation writes and reads what runs measured. A value that can't be
// used is left out, and named: nothing rests on it, and it keeps nothing from
// being told. It is pure.
package observation

import (
	"errors"
	"fmt"
	"math"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
)

var errNotFinite = errors.New("is not a finite number")

// mostFaults is how many values that can't be used are named.
const mostFaults = 5

// Of is the value of a statistic of a load or a transaction, in its unit.
func Of(subject, statistic string, value float64, samples int64) v1alpha1.Observation {
	return v1alpha1.Observation{Metric: metric.Name(subject, statistic), Value: decimal.Format(value), Unit: metric.Unit(statistic), Samples: samples}
}

// Reader reads the observations of runs, and remembers what it left out.
type Reader struct {
	faults []string
	more   int
}

// Read gives each observation of a run with its value to use. What can't be read,
// and what use has no place for, is left out; the run's name is for its fault.
func (r *Reader) Read(run string, observations []v1alpha1.Observation, use func(of *v1alpha1.Observation, value float64) error) {
	for i := range observations {
		value, err := number(observations[i].Value)
		if err == nil {
			err = use(&observations[i], value)
		}
		switch {
		case err == nil:
		case len(r.faults) < mostFaults:
			r.faults = append(r.faults, fmt.Sprintf("a value of run %q is left out: metric %q: %v", run, observations[i].Metric, err))
		default:
			r.more++
		}
	}
}

func number(text string) (float64, error) {
	value, err := decimal.Parse(text)
	if err == nil && (math.IsNaN(value) || math.IsInf(value, 0)) {
		return 0, fmt.Errorf("the value %v %w", value, errNotFinite)
	}
	return value, err
}

// Faults name what was left out, one sentence each.
func (r *Reader) Faults() []string {
	if r.more == 0 {
		return r.faults
	}
	return append(r.faults[:len(r.faults):len(r.faults)],
		fmt.Sprintf("%s %s left out", prose.Counted(r.more, "more value"), prose.Verb(r.more, "is", "are")))
}

// Counted are the observations that the status of a run holds, if the run counts.
func Counted(run *v1alpha1.PerfRun) []v1alpha1.Observation {
	if run.Status.Phase != v1alpha1.RunSucceeded {
		return nil
	}
	return run.Status.Observations
}

// Place is where a metric's values of runs are looked for.
type Place struct {
	Arm, Scenario, Metric string
	// Blocks up to this one are complete.
	Blocks int32
}

// Values are what the runs of a place that count measured, and in what unit. What
// can't be read is left out: it is in the experiment's own warnings.
func Values(runs []v1alpha1.PerfRun, at Place) (values []float64, unit string) {
	var reader Reader
	for i := range runs {
		run := &runs[i]
		if run.Spec.Block > at.Blocks || run.Spec.Arm != at.Arm || run.Spec.Scenario.Name != at.Scenario {
			continue
		}
		reader.Read(run.Name, Counted(run), func(measured *v1alpha1.Observation, value float64) error {
			if measured.Metric == at.Metric {
				values, unit = append(values, value), measured.Unit
			}
			return nil
		})
	}
	return values, unit
}
