// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
)

// Assumptions are what nobody knows before the first run.
type Assumptions struct {
	// RecordsPerSecond an import processes.
	RecordsPerSecond float64
	// Overhead of a run beside its load: building, restarting, collecting.
	Overhead time.Duration
	// CV is how much runs of one arm spread, as a share of the value.
	CV float64
	// Piloted are spreads that were measured; they stand in for CV.
	Piloted []Spread
	// Prices per hour by instance type; nil: not known.
	Prices map[string]string
	// ConfigMaps are the data of those that are at hand, by name: scripts.
	ConfigMaps map[string]map[string]string
}

// Duration is written as people write it: 1h30m0s.
type Duration time.Duration

// String is the duration in hours, minutes and seconds.
func (d Duration) String() string { return time.Duration(d).Round(time.Second).String() }

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// Estimate is a time with what it rests on.
type Estimate struct {
	Total Duration `json:"total"`
	// Most is the time for the largest number of blocks, where blocks may be
	// added; budget included.
	Most    Duration `json:"most,omitempty"`
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

// load is how long a load lasts; zero where that is not known.
func (a Assumptions) load(load v1alpha1.Load) time.Duration {
	if load.Duration != nil {
		return load.Duration.Duration
	}
	if load.Script != nil {
		length, err := a.script(load.Script)
		if err != nil {
			return 0
		}
		return length.lasts
	}
	if load.DataImport == nil {
		return 0
	}
	imports := max(1, load.DataImport.Imports)
	each := time.Duration(float64(load.DataImport.Records) / a.RecordsPerSecond * float64(time.Second))
	total := each * time.Duration(imports)
	if pause := load.DataImport.Pause; pause != nil {
		total += pause.Duration * time.Duration(imports-1)
	}
	return total
}

func (a Assumptions) sentences(spec *v1alpha1.PerfExperimentSpec) []string {
	sentences := []string{fmt.Sprintf("each run takes %s beside its load", a.Overhead)}
	imports := false
	for _, scenario := range spec.Scenarios {
		for _, load := range scenario.Loads {
			imports = imports || load.DataImport != nil
			sentence := a.scriptSentence(load)
			if sentence != "" && !slices.Contains(sentences, sentence) {
				sentences = append(sentences, sentence)
			}
		}
	}
	if imports {
		sentences = append(sentences, fmt.Sprintf("imports process %g records per second", a.RecordsPerSecond))
	}
	return sentences
}
