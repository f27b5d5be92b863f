// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestKeepAndLoad(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		store := storeIn(t, bucket, archive.Options{})
		run := runRecord(1, "raw", "samples")
		reference := keep(t, store, run)
		loads(t, store, reference, run)
		whole := experimentRecord(reference)
		loads(t, store, keep(t, store, whole), whole)
		parsed, err := archive.ParseReference(reference.String())
		if err != nil || parsed != reference || !strings.HasPrefix(reference.String(), "runs/lab/heap/e-1/heap-b1/sha256-") {
			t.Errorf("%s is read as %s, %v", reference, parsed, err)
		}
	})
}

// Every later version must read stored manifests.
func TestManifestFormatIsStable(t *testing.T) {
	store := storeIn(t, inMemory(t), archive.Options{})
	run := keep(t, store, runRecord(1, "raw"))
	text, err := store.Get(t.Context(), run.Manifest)
	expect.NoError(t, err)
	const want = `{"archive":"perflab.dev/archive/v1","at":"2026-03-09T07:13:44Z",` +
		`"identity":{"attempt":1,"experiment":"heap","experimentUID":"e-1","namespace":"lab","run":"heap-b1","runUID":"u-heap-b1"},` +
		`"items":[{"digest":"sha256:0b9c61d62e5a13f7f7ae2cb1fcd8d1ef54d4fd0a9d2a5f1ad8e5cb4ffc5e5f9f","kind":"ConfigMap","name":"heap-b1-0","size":3}`
	got := string(text)
	if strings.Replace(got, archive.Sum([]byte("raw")).String(), "sha256:0b9c61d62e5a13f7f7ae2cb1fcd8d1ef54d4fd0a9d2a5f1ad8e5cb4ffc5e5f9f", 1)[:len(want)] != want {
		t.Errorf("a manifest is\n%s\nwant it to begin\n%s", got, want)
	}
}

func TestKeepIsIdempotent(t *testing.T) {
	eachKind(t, func(t *testing.T, inner archive.Bucket) {
		bucket := &faultyBucket{Bucket: inner}
		store := storeIn(t, bucket, archive.Options{})
		record := runRecord(1, "raw")
		first := keep(t, store, record)
		before := objectsIn(t, inner)
		slices.Reverse(record.Items)
		if second := keep(t, store, record); second != first || !maps.Equal(before, objectsIn(t, inner)) {
			t.Errorf("%s is not %s, or there is more now", second, first)
		}
	})
}

// After an interruption at any request, before or after its effect, a retry loses nothing
// and leaves the same objects as an uninterrupted one.
func TestKeepSurvivesInterruption(t *testing.T) {
	run := runRecord(1, "raw", "samples")
	clean := inMemory(t)
	firstRun := keep(t, storeIn(t, clean, archive.Options{}), run)
	keep(t, storeIn(t, clean, archive.Options{}), recordInSeries(firstRun))
	want := objectsIn(t, clean)
	for _, after := range []bool{false, true} {
		killed := 0
		for at := 1; ; at++ {
			inner := inMemory(t)
			bucket := &faultyBucket{Bucket: inner, at: at, after: after}
			both := func() (archive.Reference, error) {
				reference, err := storeIn(t, bucket, archive.Options{}).Keep(t.Context(), run)
				if err != nil {
					return reference, err
				}
				return storeIn(t, bucket, archive.Options{}).Keep(t.Context(), recordInSeries(reference))
			}
			_, err := both()
			if bucket.calls < at {
				break
			}
			if err != nil {
				killed++
				readable(t, storeIn(t, inner, archive.Options{}))
				if _, err = both(); err != nil {
					t.Fatalf("killed at request %d: %v", at, err)
				}
			}
			if got := objectsIn(t, inner); !maps.Equal(got, want) {
				t.Errorf("killed at request %d, there is %v, want %v", at, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		}
		if killed < 16 {
			t.Errorf("it was killed %d times only", killed)
		}
	}
}

// readable checks that every referenced record can be loaded.
func readable(t *testing.T, store *archive.Store) {
	t.Helper()
	for _, prefix := range []string{archive.RunsPrefix, archive.ExperimentsPrefix} {
		for _, reference := range references(t, store, prefix) {
			if _, err := store.Load(t.Context(), reference); err != nil {
				t.Errorf("it counts as kept, and does not read: %v", err)
			}
		}
	}
}

func TestExistsNeedsReference(t *testing.T) {
	inner := inMemory(t)
	store := storeIn(t, inner, archive.Options{})
	record := runRecord(1, "raw")
	reference := keep(t, store, record)
	if kept, err := store.Exists(t.Context(), reference); !kept || err != nil {
		t.Errorf("%v %v", kept, err)
	}
	key := "archive/" + reference.String()
	for name, other := range map[string]string{"empty": "", "an older one": archive.Sum(nil).String() + "\n", "cut off": "sha256:00"} {
		damage(t, inner, key, []byte(other))
		if kept, err := store.Exists(t.Context(), reference); kept || !errors.Is(err, archive.ErrMismatch) {
			t.Errorf("%s: %v %v", name, kept, err)
		}
		_, err := store.Load(t.Context(), reference)
		fails(t, err, archive.ErrMismatch)
		_, err = store.Keep(t.Context(), record)
		fails(t, err, archive.ErrMismatch)
	}
	expect.NoError(t, inner.Delete(t.Context(), key))
	if kept, err := store.Exists(t.Context(), reference); kept || err != nil {
		t.Errorf("%v %v", kept, err)
	}
}

func TestKeepStoresChangedRecordSeparately(t *testing.T) {
	store := storeIn(t, inMemory(t), archive.Options{})
	first, other := runRecord(1, "raw"), runRecord(1, "raw")
	other.Items[0].Bytes = []byte("{}")
	a, b := keep(t, store, first), keep(t, store, other)
	var found []archive.Reference
	for reference, err := range store.Find(t.Context(), first.Identity) {
		expect.NoError(t, err)
		found = append(found, reference)
	}
	if len(found) != 2 || a == b {
		t.Errorf("found %v", found)
	}
	loads(t, store, a, first)
	loads(t, store, b, other)
}

// Find does not return a run whose name only starts with the given one.
func TestFindMatchesWholeNames(t *testing.T) {
	store := storeIn(t, inMemory(t), archive.Options{})
	keep(t, store, runRecord(1))
	keep(t, store, runRecord(10))
	count := 0
	for _, err := range store.Find(t.Context(), runRecord(1).Identity) {
		expect.NoError(t, err)
		count++
	}
	if count != 1 {
		t.Errorf("%d were found", count)
	}
}

func TestKeepExperimentNeedsItsRuns(t *testing.T) {
	store := storeIn(t, inMemory(t), archive.Options{})
	_, err := store.Keep(t.Context(), experimentRecord(archive.Reference{Namespace: "lab", Experiment: "heap", ExperimentUID: "e-1", Run: "heap-b9"}))
	fails(t, err, archive.ErrNotFound)
	if !strings.Contains(err.Error(), "archive the run first") || len(references(t, store, archive.ExperimentsPrefix)) != 0 {
		t.Error(err)
	}
}

func TestKeepRejectsInvalidRecords(t *testing.T) {
	store := storeIn(t, refusing{errors.New("it was asked")}, archive.Options{})
	for name, test := range map[string]struct {
		change func(*archive.Record)
		want   string
	}{
		"no namespace":     {func(r *archive.Record) { r.Identity.Namespace = "" }, "neither the name"},
		"a way out":        {func(r *archive.Record) { r.Identity.Run = "../../experiments" }, "neither the name"},
		"dots":             {func(r *archive.Record) { r.Identity.Experiment = ".." }, "neither the name"},
		"no UID":           {func(r *archive.Record) { r.Identity.RunUID = "" }, "neither the name"},
		"no end":           {func(r *archive.Record) { r.At = time.Time{} }, "no end time"},
		"no items":         {func(r *archive.Record) { r.Items = nil }, "0 items"},
		"a name twice":     {func(r *archive.Record) { r.Items = append(r.Items, r.Items[0]) }, "twice"},
		"no kind":          {func(r *archive.Record) { r.Items[0].Kind = "" }, "no kind"},
		"a run with runs":  {func(r *archive.Record) { r.Runs = []archive.Reference{{Run: "a"}} }, "refer to other runs"},
		"an experiment's ": {func(r *archive.Record) { *r = experimentRecord(archive.Reference{Namespace: "a"}) }, "not a reference to a run"},
	} {
		t.Run(name, func(t *testing.T) {
			record := runRecord(1)
			test.change(&record)
			_, err := store.Keep(t.Context(), record)
			if !errors.Is(err, archive.ErrInvalidRecord) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestLoadDetectsAnyChangedByte(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	inner := inMemory(t)
	store := storeIn(t, inner, archive.Options{})
	record := runRecord(1, "raw", "samples")
	reference := keep(t, store, record)
	all := objectsIn(t, inner)
	for key, body := range all {
		for range 20 {
			other := []byte(body)
			other[random.IntN(len(other))] ^= 1 << random.IntN(8)
			damage(t, inner, key, other)
			_, err := store.Load(t.Context(), reference)
			fails(t, err, archive.ErrMismatch)
		}
		damage(t, inner, key, []byte(body))
	}
	loads(t, store, reference, record)
}

func TestLoadRejectsLaterManifestVersion(t *testing.T) {
	for name, c := range map[string][2]string{
		"version": {"archive/v1", "archive/v2"}, "a field": {`"items":`, `"items2":1,"items":`}, "spaces": {`"items":`, ` "items":`},
		"a name": {`"heap-b1"`, `"../heap"`},
	} {
		t.Run(name, func(t *testing.T) {
			inner := inMemory(t)
			store := storeIn(t, inner, archive.Options{})
			text, err := store.Get(t.Context(), keep(t, store, runRecord(1)).Manifest)
			expect.NoError(t, err)
			_, err = archive.ParseManifest([]byte(strings.Replace(string(text), c[0], c[1], 1)))
			fails(t, err, archive.ErrUnknownManifest)
			if _, err = archive.ParseManifest(text); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestConcurrentWriters(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		store := storeIn(t, bucket, archive.Options{})
		var group sync.WaitGroup
		for n := range 24 {
			group.Go(func() {
				if _, err := store.Keep(t.Context(), runRecord(n%6, "raw", fmt.Sprint(n%6))); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := len(references(t, store, archive.RunsPrefix)); got != 6 {
			t.Errorf("%d are kept, want 6", got)
		}
		readable(t, store)
	})
}

func TestKeepAndLoadRandomRecords(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 1))
	store := storeIn(t, inMemory(t), archive.Options{})
	for n := range 60 {
		record := runRecord(n)
		for i := range random.IntN(12) {
			record.Items = append(record.Items, archive.Item{
				Kind: string(rune('A' + random.IntN(4))), Name: fmt.Sprintf("%d é \" <%d>", i, random.IntN(99)), MediaType: "x/y", Bytes: append(randomBytes(random, 200), 1),
			})
		}
		loads(t, store, keep(t, store, record), record)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"archive":"perflab.dev/archive/v1","at":"2026-03-09T07:13:44Z","identity":{"experiment":"a","experimentUID":"b","namespace":"c"},"items":[]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		manifest, err := archive.ParseManifest(text)
		if err != nil {
			fails(t, err, archive.ErrUnknownManifest)
			return
		}
		reference := manifest.Reference(archive.Sum(text))
		if again, err := archive.ParseReference(reference.String()); err != nil || again != reference {
			t.Errorf("its reference %s is read as %s, %v", reference, again, err)
		}
	})
}

func FuzzReference(f *testing.F) {
	f.Add(archive.Reference{Namespace: "a", Experiment: "b", ExperimentUID: "c", Run: "d"}.String())
	f.Fuzz(func(t *testing.T, text string) {
		if reference, err := archive.ParseReference(text); err == nil && reference.String() != text {
			t.Errorf("%q is written %q", text, reference)
		}
	})
}
