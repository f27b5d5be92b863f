// SPDX-License-Identifier: Apache-2.0

// Package sizelimit bounds lists by their size in an object. The API server stores no
// object of more than 1.5 MiB. It is pure.
package sizelimit

import "encoding/json"

// Pods is the limit for the pods of all modules in a run's status, which holds 256 KiB of
// observations as well.
const Pods = 200_000

// Limits of the lists in an experiment's status, in bytes of JSON. The whole status stays
// below half a megabyte, because a cluster may keep thousands of experiments for years.
const (
	Results     = 150_000
	Comparisons = 110_000
	Pairs       = 50_000
	Slowdowns   = 40_000
	Effects     = 40_000
	InvalidRuns = 50_000
	// Differences is shared by all arms.
	Differences = 120_000
)

// Within keeps the first items whose JSON fits into this many bytes.
func Within[T any](items []T, bytes int) []T {
	for i := range items {
		// Every status can be encoded.
		text, _ := json.Marshal(items[i]) //nolint:errchkjson // As the comment above says.
		if bytes -= len(text) + len(","); bytes < 0 {
			return items[:i]
		}
	}
	return items
}
