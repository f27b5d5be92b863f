// SPDX-License-Identifier: Apache-2.0

package results

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/decimal"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
)

// SilentCollectorReason is the source of a gap in which the collector sampled nothing.
const SilentCollectorReason = "collector"

// Gap is a part of a window without samples of a source.
type Gap struct {
	Length time.Duration
	// Interval between two rounds at that time.
	Interval time.Duration
	// Source that was silent: pods, metrics, postgres, kafka, custom/<name>, or
	// SilentCollectorReason.
	Source string
	// Message of the source's failure; it may be empty.
	Message string
}

// Intervals returns the length of the gap in intervals.
func (g Gap) Intervals() float64 {
	if g.Interval <= 0 {
		return 0
	}
	return float64(g.Length) / float64(g.Interval)
}

// LongestGap returns the longest gap in a window, in intervals. Without a gap it is about one
// interval. An invalid gap of the collector itself precedes any longer one of a single source.
// Without samples, or if they are nil, the gap is the whole window, in declared intervals.
func LongestGap(samples *payload.Samples, window Window, declared time.Duration) Gap {
	if samples == nil || len(samples.Rounds) == 0 {
		return Gap{Length: window.To.Sub(window.From), Interval: declared, Source: SilentCollectorReason}
	}
	longest := longestGap(samples.Rounds, nil, window)
	longest.Source = SilentCollectorReason
	if longest.Intervals() > maxGap {
		// All sources were silent then, which is worse than a longer silence of one.
		return longest
	}
	for _, failure := range samples.Failures {
		gap := longestGap(samples.Rounds, failure.At, window)
		gap.Source, gap.Message = failure.Source, failure.Message
		if gap.Intervals() > longest.Intervals() {
			longest = gap
		}
	}
	return longest
}

func longestGap(rounds payload.Points, failed payload.Times, window Window) Gap {
	var longest Gap
	for _, gap := range gaps(rounds, failed, window) {
		if gap.Intervals() > longest.Intervals() {
			longest = gap
		}
	}
	return longest
}

// SilentPeriods are the periods of a window in which the collector sampled nothing for longer
// than one late round, sorted by time.
func SilentPeriods(samples *payload.Samples, window Window) []Window {
	if samples == nil || len(samples.Rounds) == 0 {
		return []Window{window}
	}
	var silent []Window
	for from, gap := range gaps(samples.Rounds, nil, window) {
		if gap.Intervals() > maxGap {
			silent = append(silent, Window{From: from, To: from.Add(gap.Length)})
		}
	}
	return silent
}

// gaps returns the gaps between successful rounds, before the first and after the last, each with
// its begin.
func gaps(rounds payload.Points, failed payload.Times, window Window) iter.Seq2[time.Time, Gap] {
	return func(yield func(time.Time, Gap) bool) {
		last, interval := window.From, time.Duration(rounds[0].Value*float64(time.Second))
		for _, round := range rounds {
			if slices.ContainsFunc(failed, round.At.Equal) {
				continue
			}
			if round.At.After(window.To) {
				break
			}
			if round.At.After(last) {
				if !yield(last, Gap{Length: round.At.Sub(last), Interval: interval}) {
					return
				}
				last = round.At
			}
			interval = time.Duration(round.Value * float64(time.Second))
		}
		yield(last, Gap{Length: window.To.Sub(last), Interval: interval})
	}
}

// Saturated describes, in one sentence each, the databases and brokers whose average CPU use was
// above a percentage of their limit, of their request without a limit, or of all their CPUs if that
// is reported. The observations are those of one window.
func Saturated(observations []v1alpha1.Observation, percent float64) []string {
	busy, of := map[string]float64{}, map[string]string{}
	var reader observation.Reader
	// If both exist, the later one counts.
	for _, share := range []struct{ resource, statistic, of string }{
		{metric.CPUUsed, metric.Average, "CPUs"}, {metric.CPU, metric.PercentOfRequest, "CPU request"}, {metric.CPU, metric.PercentOfLimit, "CPU limit"},
	} {
		reader.Read("", observations, func(observed *v1alpha1.Observation, value float64) error {
			m := metric.Parse(observed.Metric)
			isBackend := m.Component == metric.Postgres || m.Component == metric.Kafka
			if isBackend && m.Resource == share.resource && m.Statistic == share.statistic {
				component := metric.Name(m.Component, m.Of)
				busy[component], of[component] = value, share.of
			}
			return nil
		})
	}
	var sentences []string
	for component, value := range busy {
		if value > percent {
			sentences = append(sentences, fmt.Sprintf("%s used %s %% of its %s, above %s %%",
				component, decimal.Format(value), of[component], decimal.Format(percent)))
		}
	}
	slices.Sort(sentences)
	return sentences
}

// maxText bounds a statement's text in a status, in bytes.
const maxText = 500

// TopStatements returns the statements with the most execution time within a window, longest first.
// They are counted in periods of about a minute; a period counts if its middle is in the window.
func TopStatements(samples *payload.Samples, window Window, limit int) []v1alpha1.StatementShare {
	type key struct{ server, id string }
	sums, all := map[key]payload.StatementTime{}, map[string]float64{}
	for _, period := range samples.Statements {
		middle := period.From.Add(period.To.Sub(period.From) / 2)
		if middle.Before(window.From) || middle.After(window.To) {
			continue
		}
		all[period.Component] += period.Milliseconds
		for _, one := range period.Top {
			sum := sums[key{period.Component, one.ID}]
			sum.Calls += one.Calls
			sum.Rows += one.Rows
			sum.Milliseconds += one.Milliseconds
			sums[key{period.Component, one.ID}] = sum
		}
	}
	var found []key
	for one := range sums {
		if !isOwn(samples.Texts[one.id]) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b key) int {
		return cmp.Or(cmp.Compare(sums[b].Milliseconds, sums[a].Milliseconds), cmp.Compare(a.server, b.server), cmp.Compare(a.id, b.id))
	})
	var top []v1alpha1.StatementShare
	for _, one := range found[:min(len(found), limit)] {
		sum := sums[one]
		top = append(top, v1alpha1.StatementShare{
			Server: one.server, Text: shortText(samples.Texts[one.id]), Calls: sum.Calls, Rows: sum.Rows,
			TotalSeconds:     decimal.Format(sum.Milliseconds / 1000),
			MeanMilliseconds: decimal.Format(sum.Milliseconds / float64(max(1, sum.Calls))),
			Percent:          decimal.Format(percent(sum.Milliseconds, all[one.server])),
		})
	}
	return top
}

// isOwn reports whether a statement reads PostgreSQL's own tables, as the collector and the
// database's operator do. Such statements are not under test.
func isOwn(text string) bool { return strings.Contains(text, "pg_catalog.") }

func shortText(text string) string {
	return prose.Cut(text, maxText)
}
