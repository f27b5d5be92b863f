// SPDX-License-Identifier: Apache-2.0

// Package archives opens and fills archives for tests, each in its own directory.
package archives

import (
	"testing"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/contents"
	"perflab.dev/perflab/internal/archive/stores/directory"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
)

// Directory returns an empty archive's location, and its bucket.
func Directory(t *testing.T) (archive.Location, archive.Bucket) {
	t.Helper()
	location, err := archive.ParseLocation("file://" + t.TempDir())
	expect.NoError(t, err)
	opened, err := directory.Open(t.Context(), location)
	expect.NoError(t, err)
	return location, opened
}

// New returns an empty archive.
func New(t *testing.T) *archive.Store {
	t.Helper()
	location, opened := Directory(t)
	return archive.New(opened, location, archive.Options{})
}

// KeepRuns archives the finished runs of an experiment, without their raw results.
func KeepRuns(t *testing.T, store *archive.Store, input *report.Input) []archive.Reference {
	t.Helper()
	var references []archive.Reference
	for i := range input.Runs {
		record, err := contents.Run(&input.Experiment, &input.Runs[i], nil)
		expect.NoError(t, err)
		reference, err := store.Keep(t.Context(), record)
		expect.NoError(t, err)
		references = append(references, reference)
	}
	return references
}

// Keep archives an experiment with these runs. Edits may change its record before.
func Keep(t *testing.T, store *archive.Store, input *report.Input, runs []archive.Reference, alter func(*archive.Record)) archive.Reference {
	t.Helper()
	record, err := contents.Experiment(*input, nil, runs)
	expect.NoError(t, err)
	if alter != nil {
		alter(&record)
	}
	reference, err := store.Keep(t.Context(), record)
	expect.NoError(t, err)
	return reference
}
