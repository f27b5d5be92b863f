// SPDX-License-Identifier: Apache-2.0

// Package sampler asks a run's servers what they do, in rounds, and prints what
// they told as lines of a log, from which the operator reads it.
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
	// roundsPerDoubling is after how many rounds the interval doubles: an hour
	// at the default of 15 s. So a day takes no more than five times the room
	// of an hour.
	roundsPerDoubling = 240
	// checkpointInterval is the time between two prints, which is all that is lost
	// when the collector is killed.
	checkpointInterval = time.Minute
	// sourceTimeout is how long a source may take for one round.
	sourceTimeout = 10 * time.Second
	// endCheckInterval is the time between two looks at whether to end.
	endCheckInterval = 2 * time.Second
)

// record writes down what a source told.
type record func(*payload.SampleRecorder)

// combined writes down what several told.
func combined(records []record) record {
	return func(into *payload.SampleRecorder) {
		for _, write := range records {
			write(into)
		}
	}
}

// round is one round of questions.
type round struct {
	at       time.Time
	interval time.Duration
	// last says that what is told until now will be printed after it.
	last bool
	// pods of the system, by component and name.
	pods []pod
}

// source is one thing that is asked in each round.
type source interface {
	// name in failures, for example metrics or postgres/primary.
	name() string
	// sample asks. A source that tells only a part of what it was asked gives
	// both that part and an error.
	sample(context.Context, round) (record, error)
}

// late is a source whose figures come after the time that they are of.
type late interface {
	source
	// isBehind says whether figures of before the end are still to come, and soon
	// enough to be waited for.
	isBehind(end time.Time) bool
	// atEnd says what is not told after all, one sentence each.
	atEnd(end time.Time) []string
}

// Loop asks round after round.
type Loop struct {
	Run, Collector string
	Interval       time.Duration
	// Longest is after what time the loop ends by itself.
	Longest time.Duration
	Log     io.Writer
	// ShouldEnd says whether the loop is to end.
	ShouldEnd func(context.Context) (bool, error)

	pods    *podLister
	sources []source
	// rounds so far.
	rounds   int
	recorder *payload.SampleRecorder
	printed  time.Time
}

// Work asks until the loop is told to end, and then returns nil, or until the
// context ends. In both cases it prints what it has.
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
			// Whoever can't be asked has not told us to end.
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

// sampleAll asks sources at once and writes down what they told.
func (l *Loop) sampleAll(ctx context.Context, sources []source, now round) {
	records, errs := make([]record, len(sources)), make([]error, len(sources))
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

// print writes what was told since the print before.
func (l *Loop) print(now time.Time, final bool) error {
	l.recorder.Samples.Final = final
	if err := payload.WriteSamples(l.Log, l.recorder.Samples); err != nil {
		return fmt.Errorf("printing samples: %w", err)
	}
	l.recorder = payload.NewSampleRecorder(l.Run, l.Collector, now)
	l.printed = now
	return nil
}

// end asks a last time and prints, and so once more what comes late, if there is time
// for it. A context that has ended does not keep the servers from being asked.
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
		if late, isLate := source.(late); isLate {
			for _, note := range late.atEnd(now) {
				l.recorder.Samples.Note(note)
			}
		}
	}
	return l.print(time.Now(), ordered)
}

// behind are the sources that have not told all of before the end.
func (l *Loop) behind(end time.Time) []source {
	var found []source
	for _, source := range l.sources {
		if late, isLate := source.(late); isLate && late.isBehind(end) {
			found = append(found, source)
		}
	}
	return found
}

// catchUp asks those that are behind until they are no more, or the time for it is over.
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
