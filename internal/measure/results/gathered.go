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

// ErrForeign says that a log holds what was measured by, or for, somebody else.
var ErrForeign = errors.New("these are results of another run")

// Source is who is to have measured something.
type Source struct{ Run, Load, Pod string }

// Gathered is what the runners of a load printed, added up one after the other.
// The zero value is ready for use.
type Gathered struct {
	// last was added last.
	last       Printed
	histograms payload.Sum
	summary    *Summary
	// generator is the share of its CPUs that the busiest runner used, in
	// percent: in the sum, one that is saturated among idle ones would not show.
	generator float64
	any       bool
}

// Printed is what a log held.
type Printed struct {
	// SHA256 of it, in hexadecimal.
	SHA256 string
	// Generator is what measured, as it calls itself; empty: it does not say.
	Generator string
}

// Last is what the log held that was added last.
func (g *Gathered) Last() Printed { return g.last }

// Any says whether there is anything.
func (g *Gathered) Any() bool { return g.any }

// Read adds what a runner's log holds. It fails with ErrForeign where that is not
// from whom it should be, with payload.ErrTooLarge where it takes too much memory,
// and where nothing can be read.
func (g *Gathered) Read(log io.Reader, load v1alpha1.Load, from Source) error {
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
	g.any, g.last = true, Printed{SHA256: sum, Generator: own.Generator}
	g.generator = max(g.generator, FromHistograms(own).GeneratorPercent)
	return nil
}

func (g *Gathered) readSummary(log io.Reader) error {
	own, err := ReadSummary(log)
	if err != nil {
		return err
	}
	g.any, g.last = true, Printed{SHA256: own.SHA256}
	if g.summary == nil {
		g.summary = own
		return nil
	}
	g.summary = g.summary.plus(own)
	return g.summary.check()
}

// Measured is the sum. Of k6's own summary, which has no times, start and end are
// when the load was seen to be on.
func (g *Gathered) Measured(start, end time.Time) (Measured, error) {
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

// check refuses what another run, load or pod says it measured. Behind the pod's
// name, k6 may say which of its users they are.
func (s Source) check(own *payload.Payload) error {
	pod, _, _ := strings.Cut(own.Runner, " ")
	return cmp.Or(claim("run", s.Run, own.Run), claim("load", s.Load, own.Load), claim("pod", s.Pod, pod))
}

// CheckSamples refuses what the collector of another run, or in another pod, says
// it saw.
func CheckSamples(own *payload.Samples, run, pod string) error {
	return cmp.Or(claim("run", run, own.Run), claim("pod", pod, own.Collector))
}

func claim(what, asked, said string) error {
	if asked == said {
		return nil
	}
	return fmt.Errorf("%w: %s %q was asked, what its log holds says it is of %s %q", ErrForeign, what, asked, what, said)
}

// Unreadable is the fault of a run that has a log which can't be taken.
func Unreadable(whose string, err error) *Fault {
	reason := v1alpha1.ReasonResultsMissing
	switch {
	case errors.Is(err, payload.ErrTooLarge):
		reason = v1alpha1.ReasonResultsTooLarge
	case errors.Is(err, ErrForeign):
		reason = v1alpha1.ReasonResultsForeign
	}
	return kind.Faultf(reason, "the results of %s can't be read: %v", whose, err)
}
