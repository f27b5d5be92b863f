// SPDX-License-Identifier: Apache-2.0

package run

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/payload"
)

// outcome is the result of a step.
type outcome struct {
	// done lets the next step execute.
	done bool
	// after is when to reconcile again. Zero: a watch triggers the next reconcile.
	after time.Duration
}

func next() outcome { return outcome{done: true} }

func wait() outcome { return outcome{} }

func waitFor(after time.Duration) outcome { return outcome{after: after} }

// pollAfter sets when to reconcile again if the step is not done.
func (o outcome) pollAfter(after time.Duration) outcome {
	if !o.done {
		o.after = after
	}
	return o
}

// setFault records why the run is invalid. The first fault stays.
func (s *scope) setFault(fault *results.Fault) {
	if s.fault == nil {
		s.fault = fault
	}
}

// scope is the state of one reconcile of a run. Steps write it, reportRun reads it.
type scope struct {
	// run with the status that the reconcile builds. Steps write timings, loads and
	// observations; only reportRun writes phase, message and conditions.
	run *v1alpha1.PerfRun
	// experiment of the run.
	experiment *v1alpha1.PerfExperiment
	now        time.Time

	// limit of the current phase.
	limit func(*scope) (deadline time.Time, missed string)

	// readiness of components by condition. Those without an entry were not checked.
	readiness map[string]environment.Readiness

	// priced is whether the run's cost is known, set by stepVerify if a price list is declared.
	priced *environment.Readiness

	// archived is whether the archive has the run, set by stepArchive if there is an archive.
	archived *environment.Readiness

	// loadMessage is the message about the loads, set by stepLoads and the steps after it.
	loadMessage string

	// samples of the collector, and notes on why there are not more. Set by stepServers.
	samples     *payload.Samples
	sampleNotes []string

	// blocked is what keeps an invalid run from its end.
	blocked string

	// fault is why the run is invalid, set by a step or from the Valid condition of an earlier
	// reconcile.
	fault *results.Fault

	// finished is set by the last step: the run's phase becomes final.
	finished bool

	// logDeadline ends the time in which the reconcile may read logs.
	logDeadline time.Time

	// requeueTime is the earliest time at which a deadline needs a reconcile.
	requeueTime time.Time
}

func (s *scope) status() *v1alpha1.PerfRunStatus { return &s.run.Status }

// stamp sets a timing once.
func (s *scope) stamp(timing **metav1.Time) {
	if *timing == nil {
		now := metav1.NewTime(s.now)
		*timing = &now
	}
}

// requeueAt requests a reconcile at a time, unless an earlier one is requested.
func (s *scope) requeueAt(at time.Time) {
	if s.requeueTime.IsZero() || at.Before(s.requeueTime) {
		s.requeueTime = at
	}
}

// load returns the status entry of a load, created on first use.
func (s *scope) load(name string) *v1alpha1.LoadStatus {
	loads := &s.status().Loads
	for i := range *loads {
		if (*loads)[i].Name == name {
			return &(*loads)[i]
		}
	}
	*loads = append(*loads, v1alpha1.LoadStatus{Name: name, TestRun: naming.TestRun(s.run, name)})
	return &(*loads)[len(*loads)-1]
}

// setReadiness records the readiness of a component.
func (s *scope) setReadiness(condition string, readiness environment.Readiness) {
	if s.readiness == nil {
		s.readiness = map[string]environment.Readiness{}
	}
	s.readiness[condition] = readiness
}

// firstProblem is the readiness that people need to know first, or false if all components are
// ready. Problems that only people can fix come first, image pulls last: they block nothing
// yet.
func (s *scope) firstProblem() (found environment.Readiness, any bool) {
	for _, part := range component.All {
		readiness, known := s.readiness[part.Describe().Condition]
		if known && !readiness.Ready && (!any || urgency(readiness) > urgency(found)) {
			found, any = readiness, true
		}
	}
	return found, any
}

func urgency(readiness environment.Readiness) int {
	switch readiness.Reason {
	case v1alpha1.ReasonRefused, v1alpha1.ReasonNameTaken:
		return 1
	case v1alpha1.ReasonPulling:
		return -1
	default:
		return 0
	}
}
