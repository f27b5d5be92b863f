// SPDX-License-Identifier: Apache-2.0

package results

import (
	"encoding/json"
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// Limits of a run's observations, whatever its loads are called: in the status, whose size the API
// server limits, and in the raw results.
const (
	maxInStatus    = 1000
	maxStatusBytes = 256 << 10
	maxStoredBytes = 384 << 10
)

// StatusObservations are the observations of a run that are kept.
type StatusObservations struct {
	// Status has the first of them, as many as fit.
	Status []v1alpha1.Observation
	// Raw has all of them as JSON, if the status does not.
	Raw []byte
	// Warnings count the omitted observations.
	Warnings []string
}

// SelectForStatus sorts observations and keeps the first ones that fit: windows are omitted before
// the whole measurement. Of several with one name, the first is kept.
func SelectForStatus(observations []v1alpha1.Observation) (StatusObservations, error) {
	Sort(observations)
	unique := distinct(observations)
	sizes, err := encodedSizes(unique)
	if err != nil {
		return StatusObservations{}, err
	}
	stored := countFitting(sizes, len(unique), maxStoredBytes)
	shown := countFitting(sizes, maxInStatus, maxStatusBytes)
	kept := StatusObservations{Status: unique[:shown], Warnings: omissionWarnings(len(observations)-len(unique), len(unique)-max(stored, shown), len(unique))}
	if shown < len(unique) {
		kept.Raw, err = json.Marshal(unique[:stored])
	}
	return kept, err
}

// distinct omits observations with a repeated name.
func distinct(observations []v1alpha1.Observation) []v1alpha1.Observation {
	seen := map[string]bool{}
	unique := make([]v1alpha1.Observation, 0, len(observations))
	for _, one := range observations {
		if !seen[one.Metric] {
			seen[one.Metric] = true
			unique = append(unique, one)
		}
	}
	return unique
}

// encodedSizes returns the size of each as JSON, in bytes.
func encodedSizes(observations []v1alpha1.Observation) ([]int, error) {
	sizes := make([]int, 0, len(observations))
	for _, one := range observations {
		text, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("encoding observation %q: %w", one.Metric, err)
		}
		sizes = append(sizes, len(text)+len(","))
	}
	return sizes, nil
}

// countFitting returns how many of the first fit.
func countFitting(sizes []int, count, bytes int) int {
	for i, size := range sizes {
		if bytes -= size; i >= count || bytes < 0 {
			return i
		}
	}
	return len(sizes)
}

func omissionWarnings(twins, surplus, all int) (warnings []string) {
	if twins > 0 {
		warnings = append(warnings, fmt.Sprintf("%s omitted because %s the name of another: transactions of one load have names that cannot be distinguished",
			prose.Counted(twins, "observation")+" "+prose.Verb(twins, "is", "are"), prose.Verb(twins, "it has", "they have")))
	}
	if surplus > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %s %s not stored: the limit of a run is %d KiB; group the transactions of its loads",
			surplus, prose.Counted(all, "observation"), prose.Verb(surplus, "is", "are"), maxStoredBytes>>10))
	}
	return warnings
}
