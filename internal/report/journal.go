// SPDX-License-Identifier: Apache-2.0

package report

import (
	"time"

	"perflab.dev/perflab/api/v1alpha1"
)

// journal is any of an experiment's runs, in the order of the plan.
type journal []*v1alpha1.PerfRun

// only the runs that are wanted.
func (j journal) only(wanted func(*v1alpha1.PerfRun) bool) journal {
	var found journal
	for _, run := range j {
		if wanted(run) {
			found = append(found, run)
		}
	}
	return found
}

func (j journal) inPhase(phase v1alpha1.RunPhase) journal {
	return j.only(func(run *v1alpha1.PerfRun) bool { return run.Status.Phase == phase })
}

// valid runs are those that count.
func (j journal) valid() journal { return j.inPhase(v1alpha1.RunSucceeded) }

func (j journal) invalid() journal { return j.inPhase(v1alpha1.RunInvalid) }

func (j journal) counts() (valid, invalid, other int) {
	valid, invalid = len(j.valid()), len(j.invalid())
	return valid, invalid, len(j) - valid - invalid
}

// span is from the first load to the last.
func (j journal) span() (first, last time.Time) {
	for _, run := range j {
		if start := timeOf(run.Status.Timings.LoadStart); !start.IsZero() && (first.IsZero() || start.Before(first)) {
			first = start
		}
		if end := timeOf(run.Status.Timings.LoadFinish); end.After(last) {
			last = end
		}
	}
	return first, last
}

// pace is how long a run took, all that it needs besides its load included; 0
// where no run has ended.
func (j journal) pace() time.Duration {
	ended := j.only(func(run *v1alpha1.PerfRun) bool { return run.Status.Timings.LoadFinish != nil })
	first, last := ended.span()
	if len(ended) == 0 || first.IsZero() {
		return 0
	}
	return last.Sub(first) / time.Duration(len(ended))
}

// length of the span in words.
func (j journal) length() string {
	first, last := j.span()
	if first.IsZero() || last.IsZero() {
		return dash
	}
	return clock(last.Sub(first).Round(time.Second))
}

// measured is when the last load ended.
func (r *record) measured() time.Time {
	_, last := r.journal.span()
	return last
}
