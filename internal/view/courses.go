// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/decimal"
)

// Word is what a load told of itself at a time.
type Word struct {
	// At counts from the start of the run's first load.
	At                      time.Duration
	Users, Requests, Errors float64
	// P95 by transaction, in milliseconds.
	P95 map[string]float64
}

// maxWords are kept of a load: two for each pixel of a chart. More are thinned
// out, so that a day's run stays within them.
const maxWords = 800

// Courses collects the words of the current run. What was told before nobody
// keeps: a run's status has the last word only.
type Courses struct {
	run   string
	loads map[string][]Word
	last  map[string]time.Time
}

// Take what a run's loads told last. Another run begins anew.
func (c *Courses) Take(run *v1alpha1.PerfRun) {
	if run.Name != c.run {
		*c = Courses{run: run.Name, loads: map[string][]Word{}, last: map[string]time.Time{}}
	}
	start := run.Status.Timings.LoadStart
	for _, load := range run.Status.Loads {
		told := load.Progress
		if told == nil || start == nil || !told.Time.After(c.last[load.Name]) {
			continue
		}
		c.last[load.Name] = told.Time.Time
		c.loads[load.Name] = append(thinned(c.loads[load.Name]), wordOf(told, told.Time.Sub(start.Time)))
	}
}

// Loads of the run with this name, for readers that keep them.
func (c *Courses) Loads(run string) map[string][]Word {
	if run != c.run {
		return nil
	}
	return maps.Clone(c.loads)
}

// thinned drops every second word of a list that is full. The list may be read by
// others: it is copied then.
func thinned(words []Word) []Word {
	if len(words) < maxWords {
		return words
	}
	var kept []Word
	for i := 0; i < len(words); i += 2 {
		kept = append(kept, words[i])
	}
	return kept
}

func wordOf(told *v1alpha1.LoadProgress, at time.Duration) Word {
	word := Word{At: at, Users: float64(told.Users), Requests: number(told.RequestsPerSecond), Errors: number(told.ErrorPercent), P95: map[string]float64{}}
	for _, one := range told.P95 {
		word.P95[one.Transaction] = number(one.Milliseconds)
	}
	return word
}

// number of the status; what is none counts as nothing, and is shown as it stands
// elsewhere.
func number(text string) float64 {
	value, err := decimal.Parse(text)
	if err != nil {
		return 0
	}
	return value
}

// transactions that any of the words tells of.
func transactions(words []Word) []string {
	seen := map[string]bool{}
	for _, word := range words {
		for name := range word.P95 {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
