// SPDX-License-Identifier: Apache-2.0

// Package sampler samples a run's servers in rounds, and prints the samples as lines of a log
// that the operator reads.
package sampler

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/payload"
)

const (
	// roundsPerDoubling is the number of rounds after which the interval doubles: an hour at the
	// default of 15 s. So a day takes at most five times the space of an hour.
	roundsPerDoubling = 240
	// checkpointInterval is the time between two prints. A killed collector loses at most that.
	checkpointInterval = time.Minute
	// sourceTimeout limits a source's time in one round.
	sourceTimeout = 10 * time.Second
	// endCheckInterval is the interval between calls of ShouldEnd.
	endCheckInterval = 2 * time.Second
)

// recordFunc records the samples of a source.
type recordFunc func(*payload.SampleRecorder)

// combine returns a function that calls several.
func combine(records []recordFunc) recordFunc {
	return func(into *payload.SampleRecorder) {
		for _, write := range records {
			write(into)
		}
	}
}

// round is one round of sampling.
type round struct {
	at       time.Time
	interval time.Duration
	// last means that the samples so far are printed after this round.
	last bool
	// pods of the system, by component and name.
	pods []pod
}

// source is sampled in each round.
type source interface {
	// name in failures, for example metrics or postgres/primary.
	name() string
	// sample queries the source. It may return both a part of the samples and an error.
	sample(context.Context, round) (recordFunc, error)
}

// delayedSource is a source whose figures arrive after the time that they cover.
type delayedSource interface {
	source
	// isBehind reports whether samples before the end are still expected soon.
	isBehind(end time.Time) bool
	// missingAtEnd describes the missing samples, in one sentence each.
	missingAtEnd(end time.Time) []string
}

// Loop samples round after round.
type Loop struct {
	Run, Collector string
	Interval       time.Duration
	// Longest is the maximum duration of the loop.
	Longest time.Duration
	Log     io.Writer
	// ShouldEnd reports whether the loop should end.
	ShouldEnd func(context.Context) (bool, error)

	pods    *podLister
	sources []source
	// rounds so far.
	rounds   int
	recorder *payload.SampleRecorder
	printed  time.Time
}

// Work samples until ShouldEnd returns true, and then returns nil, or until the context ends.
// In both cases it prints the remaining samples.
func (l *Loop) Work(ctx context.Context) error {
	begin := time.Now()
	l.printed = begin
	l.recorder = payload.NewSampleRecorder(l.Run, l.Collector, begin)
	due := time.NewTimer(0)
	defer due.Stop()
	endChecks := time.NewTicker(endCheckInterval)
	defer endChecks.Stop()
	for {
		select {
		case <-ctx.Done():
			return l.end(ctx, false)
		case <-due.C:
			now := time.Now()
			due.Reset(l.interval())
			l.sampleRound(ctx, now, now.Sub(l.printed)+l.interval() > checkpointInterval)
			if now.Sub(begin) >= l.Longest {
				return l.end(ctx, true)
			}
			if err := l.printIfDue(now); err != nil {
				return err
			}
		case <-endChecks.C:
			// An error of ShouldEnd does not end the loop.
			if ordered, err := l.ShouldEnd(ctx); err == nil && ordered {
				return l.end(ctx, true)
			}
		}
	}
}

// interval is the declared one, doubled as the run gets long.
func (l *Loop) interval() time.Duration {
	return l.Interval << min(l.rounds/roundsPerDoubling, 10)
}

// sampleRound does one round.
func (l *Loop) sampleRound(ctx context.Context, at time.Time, last bool) {
	l.rounds++
	l.recorder.Round(at, l.interval())
	now := round{at: at, interval: l.interval(), last: last}
	ctx, cancel := context.WithTimeout(ctx, min(sourceTimeout, max(l.interval(), endCheckInterval)))
	defer cancel()
	pods, write, err := l.pods.list(ctx, at)
	if err != nil {
		l.recorder.Samples.Fail("pods", err.Error(), at)
	} else {
		now.pods = pods
		write(l.recorder)
	}
	l.sampleAll(ctx, l.sources, now)
}

// sampleAll samples sources in parallel and records the results.
func (l *Loop) sampleAll(ctx context.Context, sources []source, now round) {
	records, errs := make([]recordFunc, len(sources)), make([]error, len(sources))
	var group sync.WaitGroup
	for i, source := range sources {
		group.Go(func() { records[i], errs[i] = source.sample(ctx, now) })
	}
	group.Wait()
	for i, source := range sources {
		if records[i] != nil {
			records[i](l.recorder)
		}
		if errs[i] != nil {
			l.recorder.Samples.Fail(source.name(), errs[i].Error(), now.at)
		}
	}
}

func (l *Loop) printIfDue(now time.Time) error {
	if now.Sub(l.printed)+l.interval() <= checkpointInterval {
		return nil
	}
	return l.print(now, false)
}

// print prints the samples since the previous print.
func (l *Loop) print(now time.Time, final bool) error {
	l.recorder.Samples.Final = final
	if err := payload.WriteSamples(l.Log, l.recorder.Samples); err != nil {
		return fmt.Errorf("printing samples: %w", err)
	}
	l.recorder = payload.NewSampleRecorder(l.Run, l.Collector, now)
	l.printed = now
	return nil
}

// end samples once more and prints, and waits for delayed sources if there is time. It also
// works if the context has ended.
func (l *Loop) end(ctx context.Context, ordered bool) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), sourceTimeout)
	defer cancel()
	now := time.Now()
	l.sampleRound(last, now, true)
	if len(l.behind(now)) > 0 {
		if err := l.print(now, false); err != nil {
			return err
		}
		l.catchUp(ctx, now)
	}
	for _, source := range l.sources {
		if late, isLate := source.(delayedSource); isLate {
			for _, note := range late.missingAtEnd(now) {
				l.recorder.Samples.Note(note)
			}
		}
	}
	return l.print(time.Now(), ordered)
}

// behind returns the sources that lack samples before the end.
func (l *Loop) behind(end time.Time) []source {
	var found []source
	for _, source := range l.sources {
		if late, isLate := source.(delayedSource); isLate && late.isBehind(end) {
			found = append(found, source)
		}
	}
	return found
}

// catchUp samples the delayed sources until they are complete or the time is up.
func (l *Loop) catchUp(ctx context.Context, end time.Time) {
	ctx, cancel := context.WithDeadline(ctx, end.Add(collector.CatchUp))
	defer cancel()
	for {
		sources := l.behind(end)
		if len(sources) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(l.Interval):
			l.sampleAll(ctx, sources, round{at: time.Now(), interval: l.interval(), last: true})
		}
	}
}
