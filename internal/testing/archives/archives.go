// SPDX-License-Identifier: Apache-2.0

// Package archives opens archives for tests, each in a directory of its own.
package archives

import (
	"testing"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/directory"
)

// Directory is where an empty archive is, and its bucket.
func Directory(t *testing.T) (archive.Location, archive.Bucket) {
	t.Helper()
	location, err := archive.ParseLocation("file://" + t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	opened, err := directory.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	return location, opened
}

// New is an empty archive.
func New(t *testing.T) *archive.Store {
	t.Helper()
	location, opened := Directory(t)
	return archive.New(opened, location, archive.Options{})
}
