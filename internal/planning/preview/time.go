// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/text/prose"
)

// Assumptions are what nobody knows before the first run.
type Assumptions struct {
	kind.Assumptions
	// Overhead of a run beside its load: building, restarting, collecting. ResetOverhead
	// is what to assume where nothing is known.
	Overhead time.Duration
	// CV is how much runs of one arm spread, as a share of the value.
	CV float64
	// Piloted are spreads that were measured; they stand in for CV.
	Piloted []Spread
	// Prices per hour by instance type; nil: not known.
	Prices map[string]string
}

// ResetOverhead a run that is reset so. A run between which and the one before nothing is
// reset has to start its loads and to collect; JVMs that start anew take a minute or two
// until all are ready.
func ResetOverhead(reset v1alpha1.ResetPolicy) time.Duration {
	if reset == v1alpha1.ResetNone {
		return 15 * time.Second
	}
	return 2 * time.Minute
}

// Duration is for people in sentences, and for programs in JSON.
type Duration time.Duration

// String is the duration to the second, in days where it takes days.
func (d Duration) String() string { return prose.Duration(time.Duration(d).Round(time.Second)) }

// MarshalJSON writes the duration in hours, minutes and seconds, as Go reads it.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).Round(time.Second).String())
}

// Estimate is a time with what it rests on.
type Estimate struct {
	Total Duration `json:"total"`
	// Max is the time for the largest number of blocks, where blocks may be
	// added; budget included.
	Max     Duration `json:"most,omitempty"`
	Assumes []string `json:"assumes"`
	// Unknown are loads whose length is not known, so that it is not in Total.
	Unknown []UnknownLength `json:"unknown,omitempty"`
}

// UnknownLength is a load of which nobody can tell how long it lasts.
type UnknownLength struct {
	Scenario string `json:"scenario"`
	Load     string `json:"load"`
	Why      string `json:"why"`
}

// scenario is how long a scenario's loads take from the first to the last.
func (a Assumptions) scenario(scenario v1alpha1.Scenario) time.Duration {
	last := time.Duration(0)
	for _, load := range scenario.Loads {
		// A load that lasts until another ends, ends with it.
		if load.Until == "" {
			last = max(last, a.end(scenario.Loads, load, len(scenario.Loads)))
		}
	}
	return last
}

// end is when a load is over, from the scenario's start. Loads that wait for
// each other in a circle are refused elsewhere; depth ends the search for them.
func (a Assumptions) end(loads []v1alpha1.Load, load v1alpha1.Load, depth int) time.Duration {
	end := load.StartAfterOrDefault() + a.load(load)
	for _, other := range loads {
		if other.Name == load.After && depth > 0 {
			end += a.end(loads, other, depth-1)
		}
	}
	return end
}

// load is how long a load lasts; zero where that is not known, or another load
// ends it.
func (a Assumptions) load(load v1alpha1.Load) time.Duration {
	if load.Duration != nil {
		return load.Duration.Duration
	}
	length, _ := kinds.ForLoad(load).Length(a.Assumptions)
	return length.Lasts
}

// sentences say what the times rest on: what is assumed of kinds of loads comes
// after what is known of single ones.
func (a Assumptions) sentences(spec *v1alpha1.PerfExperimentSpec) []string {
	sentences := []string{fmt.Sprintf("each run takes %s beside its load", Duration(a.Overhead))}
	var assumed []string
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			length, _ := kinds.ForLoad(load).Length(a.Assumptions)
			if length.By != "" && load.Until == "" {
				sentences = append(sentences, fmt.Sprintf("load %s lasts %s by %s", load.Name, Duration(length.Lasts), length.By))
			}
			if length.Assumes != "" {
				assumed = append(assumed, length.Assumes)
			}
		}
	}
	return unique(append(sentences, assumed...))
}

func unique(sentences []string) []string {
	var kept []string
	for _, sentence := range sentences {
		if !slices.Contains(kept, sentence) {
			kept = append(kept, sentence)
		}
	}
	return kept
}

// unknown are the loads whose length is not known. One that lasts until another
// ends takes no time of its own.
func (a Assumptions) unknown(spec *v1alpha1.PerfExperimentSpec) []UnknownLength {
	var found []UnknownLength
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			if _, err := kinds.ForLoad(load).Length(a.Assumptions); err != nil && load.Until == "" {
				found = append(found, UnknownLength{scenario.Name, load.Name, err.Error()})
			}
		}
	}
	return found
}

// String says what is not known and what makes it known.
func (u UnknownLength) String() string {
	return fmt.Sprintf("load %s of scenario %s, whose length is not known: %s; where time is to end it, write script.arguments: [--duration, 30m]", u.Load, u.Scenario, u.Why)
}
