// SPDX-License-Identifier: Apache-2.0

package section

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/digits"
)

// journal is a list of an experiment's runs, in the order of the plan.
type journal []*v1alpha1.PerfRun

// only returns the runs for which wanted returns true.
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

// valid returns the valid runs.
func (j journal) valid() journal { return j.inPhase(v1alpha1.RunSucceeded) }

func (j journal) invalid() journal { return j.inPhase(v1alpha1.RunInvalid) }

func (j journal) counts() (valid, invalid, other int) {
	valid, invalid = len(j.valid()), len(j.invalid())
	return valid, invalid, len(j) - valid - invalid
}

// span is the time from the first load to the last.
func (j journal) span() (first, last time.Time) {
	for _, run := range j {
		if start := timeValue(run.Status.Timings.LoadStart); !start.IsZero() && (first.IsZero() || start.Before(first)) {
			first = start
		}
		if end := timeValue(run.Status.Timings.LoadFinish); end.After(last) {
			last = end
		}
	}
	return first, last
}

// pace is the time per run, including everything besides its load; 0 if no run has ended.
func (j journal) pace() time.Duration {
	ended := j.only(func(run *v1alpha1.PerfRun) bool { return run.Status.Timings.LoadFinish != nil })
	first, last := ended.span()
	if len(ended) == 0 || first.IsZero() {
		return 0
	}
	return last.Sub(first) / time.Duration(len(ended))
}

// length of the span, formatted.
func (j journal) length() string {
	first, last := j.span()
	if first.IsZero() || last.IsZero() {
		return digits.Dash
	}
	return digits.Clock(last.Sub(first).Round(time.Second))
}

// effectiveSystem is the state that an arm's last valid run reported, or its last invalid run
// without a valid one.
func (j journal) effectiveSystem(arm string) *v1alpha1.EffectiveSystem {
	runs := j.only(func(run *v1alpha1.PerfRun) bool { return run.Spec.Arm == arm && run.Status.Effective != nil })
	if valid := runs.valid(); len(valid) > 0 {
		runs = valid
	}
	if len(runs) == 0 {
		return nil
	}
	return runs[len(runs)-1].Status.Effective
}

// invalidReason is why a run is invalid, in one word if its conditions have one.
func invalidReason(run *v1alpha1.PerfRun) string {
	if found := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); found != nil && found.Status == metav1.ConditionFalse {
		return found.Reason
	}
	return "see Validity"
}
