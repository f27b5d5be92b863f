// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

// emulated is an emulated store. Each test has its own emulator or its own bucket.
type emulated interface {
	// at returns the location of an archive in a bucket.
	at(t *testing.T, bucket string) archive.Location
	// names returns the names of the archive's objects.
	names(t *testing.T) []string
	// alter changes the first byte of all objects of a size.
	alter(t *testing.T, size int64)
}

// emulatedBucket is the existing bucket.
const emulatedBucket = "perflab"

func withEmulated(t *testing.T, test func(*testing.T, emulated)) {
	t.Helper()
	for name, start := range map[string]func(*testing.T) emulated{"google": startGoogle, "azure": startAzure} {
		t.Run(name, func(t *testing.T) { test(t, start(t)) })
	}
}

func TestEmulatedStoresAndLoads(t *testing.T) {
	withEmulated(t, func(t *testing.T, server emulated) {
		store := open(t, server.at(t, emulatedBucket), archive.Options{})
		reference, err := store.Keep(t.Context(), record(1))
		expect.NoError(t, err)
		kept := server.names(t)
		// There are three items, the manifest and the reference.
		if len(kept) != 5 {
			t.Fatalf("stored %v", kept)
		}
		again, err := store.Keep(t.Context(), record(1))
		if err != nil || again != reference || !slices.Equal(server.names(t), kept) {
			t.Errorf("stored again as %s (%v): %v", again, err, server.names(t))
		}
		loads(t, store, reference, record(1))
		if _, err := store.Keep(t.Context(), record(2)); err != nil {
			t.Fatal(err)
		}
		var listed []string
		for found, err := range store.List(t.Context(), archive.RunsPrefix) {
			expect.NoError(t, err)
			listed = append(listed, found.Run)
		}
		if !slices.Equal(listed, []string{"heap-b1", "heap-b2"}) {
			t.Errorf("listed %v", listed)
		}
	})
}

func TestEmulatedReturnsOtherBytes(t *testing.T) {
	withEmulated(t, func(t *testing.T, server emulated) {
		store := open(t, server.at(t, emulatedBucket), archive.Options{})
		reference, err := store.Keep(t.Context(), record(1))
		expect.NoError(t, err)
		manifest, err := store.Manifest(t.Context(), reference)
		expect.NoError(t, err)
		entry := manifest.Items[0]
		server.alter(t, entry.Size)
		if _, err := store.Get(t.Context(), entry.Digest); !errors.Is(err, archive.ErrMismatch) {
			t.Errorf("%v", err)
		}
	})
}

func TestEmulatedMissingObjects(t *testing.T) {
	withEmulated(t, func(t *testing.T, server emulated) {
		store := open(t, server.at(t, emulatedBucket), archive.Options{})
		if _, err := store.Get(t.Context(), archive.Sum([]byte("nothing"))); !errors.Is(err, archive.ErrNotFound) {
			t.Errorf("reading a missing record: %v", err)
		}
		absent := open(t, server.at(t, "another"), archive.Options{})
		// The emulators' error messages differ from those of the stores.
		if _, err := absent.Keep(t.Context(), record(1)); !archive.IsError(err) || !strings.Contains(err.Error(), "bucket") {
			t.Errorf("in a missing bucket: %v", err)
		}
	})
}

// TestEmulatedIsPruned checks that pruning deletes only unreferenced objects.
func TestEmulatedIsPruned(t *testing.T) {
	withEmulated(t, func(t *testing.T, server emulated) {
		later := open(t, server.at(t, emulatedBucket), archive.Options{Clock: func() time.Time { return time.Now().Add(48 * time.Hour) }})
		store := open(t, server.at(t, emulatedBucket), archive.Options{})
		if _, err := store.Keep(t.Context(), record(1)); err != nil {
			t.Fatal(err)
		}
		kept := server.names(t)
		if _, err := store.Put(t.Context(), []byte("superfluous")); err != nil {
			t.Fatal(err)
		}
		sum, err := later.Collect(t.Context(), archive.CollectionPolicy{}, nil)
		if err != nil || sum.Objects != 1 || !slices.Equal(server.names(t), kept) {
			t.Errorf("%+v (%v), left are %v", sum, err, server.names(t))
		}
	})
}
