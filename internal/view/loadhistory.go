// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/decimal"
)

// LoadSample is the progress that a load reported at a time.
type LoadSample struct {
	// At counts from the start of the run's first load.
	At                      time.Duration
	Users, Requests, Errors float64
	// P95 by transaction, in milliseconds.
	P95 map[string]float64
}

// maxSamples limits the samples of a load to two for each pixel of a chart. Thinning keeps a
// run of a day within the limit.
const maxSamples = 800

// LoadHistory collects the samples of the current run. The run's status has only the last one.
type LoadHistory struct {
	run   string
	loads map[string][]LoadSample
	last  map[string]time.Time
}

// Add appends the last reported progress of a run's loads. Another run clears the history.
func (c *LoadHistory) Add(run *v1alpha1.PerfRun) {
	if run.Name != c.run {
		*c = LoadHistory{run: run.Name, loads: map[string][]LoadSample{}, last: map[string]time.Time{}}
	}
	start := run.Status.Timings.LoadStart
	for _, load := range run.Status.Loads {
		progress := load.Progress
		if progress == nil || start == nil || !progress.Time.After(c.last[load.Name]) {
			continue
		}
		c.last[load.Name] = progress.Time.Time
		c.loads[load.Name] = append(thin(c.loads[load.Name]), newLoadSample(progress, progress.Time.Sub(start.Time)))
	}
}

// Loads returns the samples of the named run. The caller may keep them.
func (c *LoadHistory) Loads(run string) map[string][]LoadSample {
	if run != c.run {
		return nil
	}
	return maps.Clone(c.loads)
}

// thin drops every second sample of a full list. It copies the list, which readers may hold.
func thin(samples []LoadSample) []LoadSample {
	if len(samples) < maxSamples {
		return samples
	}
	var thinned []LoadSample
	for i := 0; i < len(samples); i += 2 {
		thinned = append(thinned, samples[i])
	}
	return thinned
}

func newLoadSample(progress *v1alpha1.LoadProgress, at time.Duration) LoadSample {
	sample := LoadSample{At: at, Users: float64(progress.Users), Requests: number(progress.RequestsPerSecond), Errors: number(progress.ErrorPercent), P95: map[string]float64{}}
	for _, one := range progress.P95 {
		sample.P95[one.Transaction] = number(one.Milliseconds)
	}
	return sample
}

// number parses a value of the status. An invalid value counts as zero.
func number(text string) float64 {
	value, err := decimal.Parse(text)
	if err != nil {
		return 0
	}
	return value
}

// transactionNames returns the sorted names in any of the samples.
func transactionNames(samples []LoadSample) []string {
	seen := map[string]bool{}
	for _, sample := range samples {
		for name := range sample.P95 {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
