// SPDX-License-Identifier: Apache-2.0

// Package observation writes and reads what runs measured. An invalid value is omitted and
// named; it does not affect other values. It is pure.
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

// maxFaults is how many values that can't be used are named.
const maxFaults = 5

// New is the value of a statistic of a load or a transaction, in its unit.
func New(subject, statistic string, value float64, samples int64) v1alpha1.Observation {
	return v1alpha1.Observation{Metric: metric.Name(subject, statistic), Value: decimal.Format(value), Unit: metric.Unit(statistic), Samples: samples}
}

// Reader reads the observations of runs, and remembers what it left out.
type Reader struct {
	faults []string
	more   int
}

// Read passes each observation of a run with its value to use. Values that are invalid or
// rejected by use are omitted, and recorded as a fault with the run's name.
func (r *Reader) Read(run string, observations []v1alpha1.Observation, use func(of *v1alpha1.Observation, value float64) error) {
	for i := range observations {
		value, err := number(observations[i].Value)
		if err == nil {
			err = use(&observations[i], value)
		}
		switch {
		case err == nil:
		case len(r.faults) < maxFaults:
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

// Faults name what was left out, in one sentence each.
func (r *Reader) Faults() []string {
	if r.more == 0 {
		return r.faults
	}
	return append(r.faults[:len(r.faults):len(r.faults)],
		fmt.Sprintf("%s %s left out", prose.Counted(r.more, "more value"), prose.Verb(r.more, "is", "are")))
}

// OfValidRun are the observations that the status of a run holds, if the run counts.
func OfValidRun(run *v1alpha1.PerfRun) []v1alpha1.Observation {
	if run.Status.Phase != v1alpha1.RunSucceeded {
		return nil
	}
	return run.Status.Observations
}

// SeriesKey is where a metric's values of runs are looked for.
type SeriesKey struct {
	Arm, Scenario, Metric string
	// Blocks up to this one are complete.
	Blocks int32
}

// Values are what the runs of a place that are valid measured, and in what unit. What can't be
// read is left out: it is in the experiment's own warnings.
func Values(runs []v1alpha1.PerfRun, at SeriesKey) (values []float64, unit string) {
	var reader Reader
	for i := range runs {
		run := &runs[i]
		if run.Spec.Block > at.Blocks || run.Spec.Arm != at.Arm || run.Spec.Scenario.Name != at.Scenario {
			continue
		}
		reader.Read(run.Name, OfValidRun(run), func(measured *v1alpha1.Observation, value float64) error {
			if measured.Metric == at.Metric {
				values, unit = append(values, value), measured.Unit
			}
			return nil
		})
	}
	return values, unit
}
