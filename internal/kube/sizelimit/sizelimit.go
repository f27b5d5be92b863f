// SPDX-License-Identifier: Apache-2.0

// Package sizelimit bounds lists by the room they take in an object. The API server
// stores none of more than 1.5 MiB, whatever names and values are long in it. It is
// pure.
package sizelimit

import "encoding/json"

// Pods are what those of all modules may take in a run's status, which holds 256 KiB of
// observations as well.
const Pods = 200_000

// What the lists in an experiment's status may take, in bytes of JSON. With
// conditions, warnings and the rest it stays below half a megabyte: a complete
// experiment may stay for years, and thousands may.
const (
	Results     = 150_000
	Comparisons = 110_000
	Pairs       = 50_000
	Slowdowns   = 40_000
	Effects     = 40_000
	InvalidRuns = 50_000
	// Differences are shared by the arms, however many there are.
	Differences = 120_000
)

// Within keeps the first items whose JSON has room in so many bytes.
func Within[T any](items []T, bytes int) []T {
	for i := range items {
		// Null, which can't be encoded, is not in a status.
		text, _ := json.Marshal(items[i]) //nolint:errchkjson // As the comment above says.
		if bytes -= len(text) + len(","); bytes < 0 {
			return items[:i]
		}
	}
	return items
}
