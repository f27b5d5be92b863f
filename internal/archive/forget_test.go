// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

// two keeps two experiments of one name, with a run each, and returns the first identity.
func two(t *testing.T, store *archive.Store) archive.Identity {
	t.Helper()
	other := runRecord(2, "raw")
	other.Identity.ExperimentUID = "e-2"
	second := recordInSeries(keep(t, store, other))
	second.Identity.ExperimentUID = "e-2"
	keep(t, store, second)
	first := recordInSeries(keep(t, store, runRecord(1, "raw")))
	keep(t, store, first)
	return first.Identity
}

func TestWhatIsForgottenLeadsNowhere(t *testing.T) {
	bucket := inMemory(t)
	store := storeIn(t, bucket, archive.Options{})
	of := two(t, store)
	before := objectsIn(t, bucket)
	if uids, err := store.Experiments(t.Context(), of.Namespace, of.Experiment); err != nil || !slices.Equal(uids, []string{"e-1", "e-2"}) {
		t.Errorf("there are %q, %v", uids, err)
	}
	var would, gone []string
	if err := store.Forget(t.Context(), of, true, func(key string) { would = append(would, key) }); err != nil || !maps.Equal(objectsIn(t, bucket), before) {
		t.Errorf("a dry run changed something, or failed: %v", err)
	}
	if err := store.Forget(t.Context(), of, false, func(key string) { gone = append(gone, key) }); err != nil || !slices.Equal(gone, would) || len(gone) < 3 {
		t.Errorf("%v went, %v would have: %v", gone, would, err)
	}
	for key := range objectsIn(t, bucket) {
		if strings.Contains(key, "e-1") {
			t.Errorf("%s is left", key)
		}
	}
	if len(objectsIn(t, bucket)) != len(before)-len(gone) {
		t.Errorf("of %d objects %d are left, and %d were to go", len(before), len(objectsIn(t, bucket)), len(gone))
	}
	readable(t, store)
	// The next collection removes the unreferenced objects.
	later := storeIn(t, bucket, ahead(48*time.Hour))
	sum, err := later.Collect(t.Context(), archive.CollectionPolicy{}, nil)
	if err != nil || sum.Records != 0 || sum.Objects == 0 {
		t.Errorf("the collection after it: %+v, %v", sum, err)
	}
	readable(t, store)
}

func TestForgettingThatIsBrokenOffIsDoneAgain(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			inner := inMemory(t)
			of := two(t, storeIn(t, inner, archive.Options{}))
			bucket := &faultyBucket{Bucket: inner, at: at, after: after}
			err := storeIn(t, bucket, archive.Options{}).Forget(t.Context(), of, false, func(string) {})
			if bucket.calls < at {
				break
			}
			if err == nil {
				continue
			}
			store := storeIn(t, inner, archive.Options{})
			readable(t, store)
			if uids, err := store.Experiments(t.Context(), of.Namespace, of.Experiment); err == nil && !slices.Contains(uids, of.ExperimentUID) {
				// The last key was removed, but the response was lost.
				continue
			}
			expect.NoError(t, store.Forget(t.Context(), of, false, func(string) {}), "broken off at request %d, and then", at)
			if uids, err := store.Experiments(t.Context(), of.Namespace, of.Experiment); err != nil || !slices.Equal(uids, []string{"e-2"}) {
				t.Errorf("broken off at request %d, left are %q, %v", at, uids, err)
			}
		}
	}
}

func TestWhatIsForgottenIsAnExperiment(t *testing.T) {
	store := storeIn(t, inMemory(t), archive.Options{})
	for _, of := range []archive.Identity{
		{Namespace: "lab", Experiment: "heap"},
		{Namespace: "lab", Experiment: "heap", ExperimentUID: "e-1", Run: "heap-1"},
	} {
		if err := store.Forget(t.Context(), of, false, func(string) {}); !errors.Is(err, archive.ErrInvalidRecord) {
			t.Errorf("%+v: %v", of, err)
		}
	}
}
