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

// Assumptions are the inputs that are unknown before the first run.
type Assumptions struct {
	kind.Assumptions
	// Overhead of a run besides its load: building, restarting, collecting. ResetOverhead
	// is the default.
	Overhead time.Duration
	// CV is the coefficient of variation of runs of one arm.
	CV float64
	// Piloted are measured spreads, which replace CV.
	Piloted []Spread
	// Prices per hour by instance type; nil if unknown.
	Prices map[string]string
}

// ResetOverhead returns the typical overhead of a run with this reset. Without a reset, a
// run starts its loads and collects; restarted JVMs take a minute or two until all are
// ready.
func ResetOverhead(reset v1alpha1.ResetPolicy) time.Duration {
	if reset == v1alpha1.ResetNone {
		return 15 * time.Second
	}
	return 2 * time.Minute
}

// Duration has a form for users and one for JSON.
type Duration time.Duration

// String formats the duration to the second, in days if it is long.
func (d Duration) String() string { return prose.Duration(time.Duration(d).Round(time.Second)) }

// MarshalJSON writes the duration in Go's format.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).Round(time.Second).String())
}

// Estimate is a duration with its assumptions.
type Estimate struct {
	Total Duration `json:"total"`
	// Max is the duration of the largest number of blocks, if blocks may be added, within
	// the budget.
	Max     Duration `json:"most,omitempty"`
	Assumes []string `json:"assumes"`
	// Unknown are loads of unknown length, which Total excludes.
	Unknown []UnknownLength `json:"unknown,omitempty"`
}

// UnknownLength is a load of unknown length.
type UnknownLength struct {
	Scenario string `json:"scenario"`
	Load     string `json:"load"`
	Why      string `json:"why"`
}

// scenario returns the duration of a scenario's loads.
func (a Assumptions) scenario(scenario v1alpha1.Scenario) time.Duration {
	last := time.Duration(0)
	for _, load := range scenario.Loads {
		// A load with until ends with the other load.
		if load.Until == "" {
			last = max(last, a.end(scenario.Loads, load, len(scenario.Loads)))
		}
	}
	return last
}

// end returns when a load ends, from the scenario's start. Validation rejects cycles of
// loads; depth bounds the recursion.
func (a Assumptions) end(loads []v1alpha1.Load, load v1alpha1.Load, depth int) time.Duration {
	end := load.StartAfterOrDefault() + a.load(load)
	for _, other := range loads {
		if other.Name == load.After && depth > 0 {
			end += a.end(loads, other, depth-1)
		}
	}
	return end
}

// load returns the length of a load; zero if it is unknown, or another load ends it.
func (a Assumptions) load(load v1alpha1.Load) time.Duration {
	length, _ := a.length(load)
	return length.Lasts
}

// length returns the length of a load without until; declared lengths need no assumptions.
func (a Assumptions) length(load v1alpha1.Load) (kind.Length, error) {
	if load.Duration != nil {
		return kind.Length{Lasts: load.Duration.Duration}, nil
	}
	return kinds.ForLoad(load).Length(a.Assumptions)
}

// sentences list the assumptions: those of kinds of loads after those of single loads.
func (a Assumptions) sentences(spec *v1alpha1.PerfExperimentSpec) []string {
	sentences := []string{fmt.Sprintf("each run takes %s in addition to its load", Duration(a.Overhead))}
	var assumed []string
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			length, _ := a.length(load)
			if length.By != "" && load.Until == "" {
				sentences = append(sentences, fmt.Sprintf("load %s lasts %s according to %s", load.Name, Duration(length.Lasts), length.By))
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

// unknown returns the loads of unknown length, except those with until.
func (a Assumptions) unknown(spec *v1alpha1.PerfExperimentSpec) []UnknownLength {
	var found []UnknownLength
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			if _, err := a.length(load); err != nil && load.Until == "" {
				found = append(found, UnknownLength{scenario.Name, load.Name, err.Error()})
			}
		}
	}
	return found
}

// String describes what is unknown and how to fix it.
func (u UnknownLength) String() string {
	return fmt.Sprintf("load %s of scenario %s, whose length is unknown: %s; to end it after a fixed time, write script.arguments: [--duration, 30m]", u.Load, u.Scenario, u.Why)
}
