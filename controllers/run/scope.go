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

// outcome says whether the next step may go on.
type outcome struct {
	done bool
	// after asks for a pass when this much time has gone by. Zero: a watch
	// will wake us.
	after time.Duration
}

func next() outcome { return outcome{done: true} }

func wait() outcome { return outcome{} }

func waitFor(after time.Duration) outcome { return outcome{after: after} }

// pollAfter asks for a pass after this time, if the next step may not go on.
func (o outcome) pollAfter(after time.Duration) outcome {
	if !o.done {
		o.after = after
	}
	return o
}

// setFault notes why the run does not count. The first fault that is found stays.
func (s *scope) setFault(fault *results.Fault) {
	if s.fault == nil {
		s.fault = fault
	}
}

// scope holds what one pass over a run has learnt. Steps write it,
// reportRun reads it.
type scope struct {
	// run as read, with the status the pass is working on. Timings, loads and
	// observations are written by the steps that know them; phase, message
	// and conditions only by reportRun.
	run *v1alpha1.PerfRun
	// experiment the run belongs to.
	experiment *v1alpha1.PerfExperiment
	now        time.Time

	// limit is that of the phase the pass is in.
	limit func(*scope) (deadline time.Time, missed string)

	// told is how ready the parts are, by condition. What is not in it was not
	// looked at.
	readiness map[string]environment.Readiness

	// priced says whether the run's cost is known, set by stepEffective where a
	// price list is declared.
	priced *environment.Readiness

	// archived says whether the archive has the run, set by stepArchive where there is one.
	archived *environment.Readiness

	// loadMessage is a sentence about the loads, set by stepLoads.
	loadMessage string

	// samples are what the collector saw, and unsampled why it did not see
	// more. Set by stepServers.
	samples     *payload.Samples
	sampleNotes []string

	// blocked says what keeps a run that does not count from its end.
	blocked string

	// fault says why the run does not count. Set by any step, or read back
	// from the Valid condition of an earlier pass.
	fault *results.Fault

	// finished is set by the last step: the run's phase becomes final.
	finished bool

	// logDeadline ends the pass's turn to read logs.
	logDeadline time.Time

	// requeueTime is the soonest time at which something has to be looked at again.
	requeueTime time.Time
}

func (s *scope) status() *v1alpha1.PerfRunStatus { return &s.run.Status }

func (s *scope) request() environment.Request { return component.NewRequest(s.run, s.experiment) }

// stamp stamps a timing once.
func (s *scope) stamp(timing **metav1.Time) {
	if *timing == nil {
		now := metav1.NewTime(s.now)
		*timing = &now
	}
}

// requeueAt asks for a pass at this time, if no earlier one is asked for.
func (s *scope) requeueAt(at time.Time) {
	if s.requeueTime.IsZero() || at.Before(s.requeueTime) {
		s.requeueTime = at
	}
}

// load returns the status entry of a load, made on first use.
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

// setReadiness notes how ready a part is.
func (s *scope) setReadiness(condition string, readiness environment.Readiness) {
	if s.readiness == nil {
		s.readiness = map[string]environment.Readiness{}
	}
	s.readiness[condition] = readiness
}

// firstProblem is what people should hear of first; false: every part is ready. What
// nobody but them can help comes before what is on its way, and pulls that are on
// come last: they hold nothing up yet.
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
