// SPDX-License-Identifier: Apache-2.0

// Package observation writes and reads the measurements of runs. It omits and names invalid values,
// which do not affect other values. It is pure.
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

// maxFaults limits the number of invalid values that are named.
const maxFaults = 5

// New returns the observation of a load's or transaction's statistic, in its unit.
func New(subject, statistic string, value float64, samples int64) v1alpha1.Observation {
	return v1alpha1.Observation{Metric: metric.Name(subject, statistic), Value: decimal.Format(value), Unit: metric.Unit(statistic), Samples: samples}
}

// Reader reads the observations of runs, and collects the faults.
type Reader struct {
	faults []string
	more   int
}

// Read calls use with each observation of a run and its value. Values that are invalid or rejected
// by use are omitted, and recorded as a fault with the run's name.
func (r *Reader) Read(run string, observations []v1alpha1.Observation, use func(of *v1alpha1.Observation, value float64) error) {
	for i := range observations {
		value, err := number(observations[i].Value)
		if err == nil {
			err = use(&observations[i], value)
		}
		switch {
		case err == nil:
		case len(r.faults) < maxFaults:
			r.faults = append(r.faults, fmt.Sprintf("a value of run %q is omitted: metric %q: %v", run, observations[i].Metric, err))
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

// Faults describes what was left out, in one sentence each.
func (r *Reader) Faults() []string {
	if r.more == 0 {
		return r.faults
	}
	return append(r.faults[:len(r.faults):len(r.faults)],
		fmt.Sprintf("%s %s omitted", prose.Counted(r.more, "more value"), prose.Verb(r.more, "is", "are")))
}

// OfValidRun returns the observations in the status of a run, if the run is valid.
func OfValidRun(run *v1alpha1.PerfRun) []v1alpha1.Observation {
	if run.Status.Phase != v1alpha1.RunSucceeded {
		return nil
	}
	return run.Status.Observations
}

// SeriesKey identifies the values of a metric in several runs.
type SeriesKey struct {
	Arm, Scenario, Metric string
	// Blocks up to this one are complete.
	Blocks int32
}

// Values returns the values of valid runs for a key, and their unit. It omits invalid values, which
// the experiment's own warnings report.
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
