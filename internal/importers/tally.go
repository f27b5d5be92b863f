// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/observation"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/payload"
	"perflab.dev/perflab/payload/label"
)

const (
	// mostTransactions is the limit of a run: each has eight of at most a thousand values.
	mostTransactions = 120
	mostObservations = mostTransactions * 8
	// longestSample exceeds every transaction; a longer one has another unit.
	longestSample = 7 * 24 * time.Hour
	// longestGap between samples of one test.
	longestGap = time.Hour
	// memory per transaction and per distinct duration, in bytes.
	costOfTransaction, costOfDuration = 1024, 64
)

// Range of valid times.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// sample is one transaction of a user.
type sample struct {
	// transaction in the tool's naming.
	transaction string
	start       time.Time
	took        time.Duration
	failed      bool
	// inner: it consists of requests that are listed separately, or is within one.
	inner bool
	// paused: it includes the user's think time.
	paused bool
}

// tally counts samples by transaction and duration. All statistics are exact.
type tally struct {
	load   string
	only   *regexp.Regexp
	memory *payload.Budget
	// path splits a transaction's name into its parents and itself.
	path func(transaction string) []string
	// part of each transaction that is counted; empty for all of it.
	part string

	// transactions by the tool's names.
	transactions map[string]*durations
	start, end   time.Time
	// requests are samples without parts; failed counts the failed ones.
	requests, failed int64
	// samples counts all samples, retained or not.
	samples int64
	gap     string
}

// durations of one transaction.
type durations struct {
	// counts of successful ones, by duration.
	counts     map[time.Duration]int64
	ok, failed int64
	paused     bool
}

func newTally(from Source) *tally {
	return &tally{load: from.Load, only: from.Only, memory: from.Memory, path: func(text string) []string { return []string{text} }, transactions: map[string]*durations{}}
}

func (t *tally) add(s sample) error {
	if err := plausible(s); err != nil {
		return err
	}
	t.samples++
	t.span(s.start, s.start.Add(s.took))
	if !s.inner {
		t.requests++
		if s.failed {
			t.failed++
		}
	}
	found, err := t.transactionFor(s.transaction)
	if err != nil || found == nil {
		return err
	}
	return t.count(found, s)
}

func (t *tally) count(found *durations, s sample) error {
	found.paused = s.paused
	if s.failed {
		found.failed++
		return nil
	}
	if found.counts[s.took] == 0 {
		if err := t.memory.Spend(costOfDuration); err != nil {
			return err
		}
	}
	found.counts[s.took]++
	found.ok++
	return nil
}

// plausible rejects times in another unit.
func plausible(s sample) error {
	switch {
	case s.start.Before(earliest) || s.start.After(latest):
		return refuse("the time %s is not between %d and %d: check the unit", s.start.UTC().Format(time.RFC3339), earliest.Year(), latest.Year())
	case s.took < 0:
		return refuse("the duration is negative: %s", s.took)
	case s.took > longestSample:
		return refuse("the duration %s is longer than a week: check the unit", s.took)
	}
	return nil
}

// span extends the test to the sample, and notes a gap after which another test may have
// begun.
func (t *tally) span(start, end time.Time) {
	if t.gap == "" && !t.end.IsZero() && start.Sub(t.end) > longestGap {
		t.gap = fmt.Sprintf("no samples for %s before %s UTC: if another test starts there, split the file",
			start.Sub(t.end).Round(time.Minute), start.UTC().Format(time.DateTime))
	}
	if t.start.IsZero() || start.Before(t.start) {
		t.start = start
	}
	if end.After(t.end) {
		t.end = end
	}
}

// transactionFor finds or adds a transaction; nil if it is filtered out.
func (t *tally) transactionFor(transaction string) (*durations, error) {
	if found := t.transactions[transaction]; found != nil {
		return found, nil
	}
	if t.only != nil && !t.only.MatchString(metric.Plain(pathName(t.path(transaction)))) {
		return nil, nil
	}
	if len(t.transactions) == mostTransactions {
		return nil, refuse("%q exceeds the limit of %d transactions per run: select some with --only REGEXP", shorten(transaction), mostTransactions)
	}
	if err := t.memory.Spend(costOfTransaction + len(transaction)); err != nil {
		return nil, err
	}
	found := &durations{counts: map[time.Duration]int64{}}
	t.transactions[strings.Clone(transaction)] = found
	return found, nil
}

func (t *tally) transactionName(transaction string) string {
	path := t.path(transaction)
	if t.part != "" {
		path = append(path, t.part)
	}
	return pathName(path)
}

// isRenamed reports whether a transaction's metric name differs from its own.
func (t *tally) isRenamed(transaction string) bool {
	path := t.path(transaction)
	return metric.Plain(pathName(path)) != strings.Join(path, label.Separator)
}

// pausesIncluded is the note about a group's time.
const pausesIncluded = "a group's time includes its pauses, so its requests are the primary metrics unless --primary lists the group"

// measured computes the observations.
func (t *tally) measured() (*Measured, error) {
	if t.samples == 0 {
		return nil, refuse("the file has no samples")
	}
	if len(t.transactions) == 0 {
		return nil, refuse("none of %s is of a transaction that matches --only %q", prose.Counted(t.samples, "sample"), t.only)
	}
	made := &Measured{Start: t.start, End: t.end, Samples: t.samples}
	renamed := false
	names := distinct(slices.Collect(maps.Keys(t.transactions)), t.transactionName)
	for transaction, durations := range t.transactions {
		renamed = renamed || t.isRenamed(transaction)
		of := metric.Name(t.load, names[transaction])
		made.Observations = append(made.Observations, durations.observe(of)...)
		if durations.paused {
			made.Paused = append(made.Paused, metric.Name(of, metric.Average))
		}
	}
	slices.Sort(made.Paused)
	if len(made.Paused) > 0 {
		made.Notes = append(made.Notes, pausesIncluded)
	}
	if length := t.end.Sub(t.start); t.requests > 0 && length > 0 {
		made.Observations = append(made.Observations, observation.New(t.load, metric.RequestsPerSecond, float64(t.requests)/length.Seconds(), t.requests))
	}
	if t.gap != "" {
		made.Notes = append(made.Notes, t.gap)
	}
	if renamed {
		made.Notes = append(made.Notes, "transaction names that are empty, too long or contain line breaks were changed")
	}
	made.Observations = sorted(made.Observations)
	return made, nil
}

func (d *durations) observe(of string) []v1alpha1.Observation {
	all := d.ok + d.failed
	made := []v1alpha1.Observation{
		observation.New(of, metric.Samples, float64(all), 0),
		observation.New(of, metric.Errors, 100*float64(d.failed)/float64(all), all),
	}
	if d.ok == 0 {
		return made
	}
	for statistic, value := range d.statistics() {
		made = append(made, observation.New(of, statistic, value, d.ok))
	}
	return made
}

// shares of the quantiles.
var shares = []struct {
	statistic string
	share     float64
}{{metric.P50, 0.5}, {metric.P75, 0.75}, {metric.P95, 0.95}, {metric.P99, 0.99}, {metric.Max, 1}}

// statistics in milliseconds, of successful samples. Quantiles are by nearest rank: the
// shortest duration that this share did not exceed.
func (d *durations) statistics() map[string]float64 {
	found := map[string]float64{}
	var sum float64
	var seen int64
	next := 0
	for _, took := range slices.Sorted(maps.Keys(d.counts)) {
		count := d.counts[took]
		sum += milliseconds(took) * float64(count)
		seen += count
		for next < len(shares) && seen >= rank(shares[next].share, d.ok) {
			found[shares[next].statistic] = milliseconds(took)
			next++
		}
	}
	found[metric.Average] = sum / float64(d.ok)
	return found
}

func rank(share float64, of int64) int64 {
	return max(int64(math.Ceil(share*float64(of)-1e-9)), 1)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
