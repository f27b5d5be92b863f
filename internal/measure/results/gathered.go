// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/payload"
)

// ErrOtherSource means that a log has results of another run, load or pod.
var ErrOtherSource = errors.New("these are results of another run")

// Source identifies the expected origin of results.
type Source struct{ Run, Load, Pod string }

// LogResults are the results in the logs of a load's runners, added up one after the other. The
// zero value is ready for use.
type LogResults struct {
	// last is the last added report.
	last       Report
	histograms payload.Sum
	summary    *Summary
	// generator is the share of its CPUs that the busiest runner used, in percent: the sum would
	// hide a saturated runner among idle ones.
	generator float64
	any       bool
}

// Report describes the results in a log.
type Report struct {
	// SHA256 of it, in hexadecimal.
	SHA256 string
	// Generator is the name of the load generator; empty if unknown.
	Generator string
}

// Last returns the report of the last added log.
func (g *LogResults) Last() Report { return g.last }

// Any reports whether there are any results.
func (g *LogResults) Any() bool { return g.any }

// Read adds the results in a runner's log. It fails with ErrOtherSource if they are from another
// source, with payload.ErrTooLarge if they take too much memory, and without readable results.
func (g *LogResults) Read(log io.Reader, load v1alpha1.Load, from Source) error {
	if kinds.ForLoad(load).Results() == v1alpha1.ResultsSummary {
		return g.readSummary(log)
	}
	own, sum, err := payload.ReadSum(log)
	if err != nil {
		return err
	}
	if err := from.check(own); err != nil {
		return err
	}
	if err := g.histograms.Add(own); err != nil {
		return err
	}
	g.any, g.last = true, Report{SHA256: sum, Generator: own.Generator}
	g.generator = max(g.generator, FromHistograms(own).GeneratorPercent)
	return nil
}

func (g *LogResults) readSummary(log io.Reader) error {
	own, err := ReadSummary(log)
	if err != nil {
		return err
	}
	g.any, g.last = true, Report{SHA256: own.SHA256}
	if g.summary == nil {
		g.summary = own
		return nil
	}
	g.summary = g.summary.plus(own)
	return g.summary.check()
}

// Measured returns the sum. k6's own summary has no times: its start and end are those at which the
// load was observed.
func (g *LogResults) Measured(start, end time.Time) (Measured, error) {
	if g.summary != nil {
		return Measured{Summary: g.summary, Start: start, End: end}, nil
	}
	all, err := g.histograms.Payload()
	if err != nil {
		return Measured{}, err
	}
	measured := FromHistograms(all)
	measured.GeneratorPercent = g.generator
	return measured, nil
}

// check rejects results of another run, load or pod. k6 may append the number of its users to
// the pod's name.
func (s Source) check(own *payload.Payload) error {
	pod, _, _ := strings.Cut(own.Runner, " ")
	return cmp.Or(claim("run", s.Run, own.Run), claim("load", s.Load, own.Load), claim("pod", s.Pod, pod))
}

// CheckSamples rejects samples of the collector of another run or pod.
func CheckSamples(own *payload.Samples, run, pod string) error {
	return cmp.Or(claim("run", run, own.Run), claim("pod", pod, own.Collector))
}

func claim(what, expected, found string) error {
	if expected == found {
		return nil
	}
	return fmt.Errorf("%w: expected %s %q, but the log has the results of %s %q", ErrOtherSource, what, expected, what, found)
}

// Unreadable returns the fault of a run with an invalid log.
func Unreadable(whose string, err error) *Fault {
	reason := v1alpha1.ReasonResultsMissing
	switch {
	case errors.Is(err, payload.ErrTooLarge):
		reason = v1alpha1.ReasonResultsTooLarge
	case errors.Is(err, ErrOtherSource):
		reason = v1alpha1.ReasonResultsForeign
	}
	return kind.Faultf(reason, "the results of %s can't be read: %v", whose, err)
}
