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

// within asks for a pass after this time, if the next step may not go on.
func (o outcome) within(after time.Duration) outcome {
	if !o.done {
		o.after = after
	}
	return o
}

// blame notes why the run does not count. The first fault that is found stays.
func (s *scope) blame(fault *results.Fault) {
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

	// loading is a sentence about the loads, set by stepLoads.
	loading string

	// samples are what the collector saw, and unsampled why it did not see
	// more. Set by stepServers.
	samples   *payload.Samples
	unsampled []string

	// held says what keeps a run that does not count from its end.
	held string

	// fault says why the run does not count. Set by any step, or read back
	// from the Valid condition of an earlier pass.
	fault *results.Fault

	// over is set by the last step: the run's phase becomes final.
	over bool

	// readUntil ends the pass's turn to read logs.
	readUntil time.Time

	// deadline is the soonest time at which something has to be looked at again.
	deadline time.Time
}

func (s *scope) status() *v1alpha1.PerfRunStatus { return &s.run.Status }

func (s *scope) request() environment.Request { return component.NewRequest(s.run, s.experiment) }

// mark stamps a timing once.
func (s *scope) mark(timing **metav1.Time) {
	if *timing == nil {
		now := metav1.NewTime(s.now)
		*timing = &now
	}
}

// alarm asks for a pass at this time, if no earlier one is asked for.
func (s *scope) alarm(at time.Time) {
	if s.deadline.IsZero() || at.Before(s.deadline) {
		s.deadline = at
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

// tell notes how ready a part is.
func (s *scope) tell(condition string, readiness environment.Readiness) {
	if s.readiness == nil {
		s.readiness = map[string]environment.Readiness{}
	}
	s.readiness[condition] = readiness
}

// trouble is what people should hear of first; false: every part is ready. What
// nobody but them can help comes before what is on its way, and pulls that are on
// come last: they hold nothing up yet.
func (s *scope) trouble() (found environment.Readiness, any bool) {
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
