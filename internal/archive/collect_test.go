// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

const week = 7 * 24 * time.Hour

// openAfterWeek opens a store whose clock is a week ahead, so that all objects are old.
func openAfterWeek(t *testing.T, bucket archive.Bucket) *archive.Store {
	t.Helper()
	return storeIn(t, bucket, ahead(week))
}

func collected(t *testing.T, store *archive.Store, policy archive.CollectionPolicy) (archive.CollectionResult, []string) {
	t.Helper()
	var gone []string
	sum, err := store.Collect(t.Context(), policy, func(one archive.Removal) { gone = append(gone, one.Key) })
	expect.NoError(t, err)
	return sum, gone
}

func TestCollectRemovesUnreferencedObjects(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		now := storeIn(t, bucket, archive.Options{})
		a, b := runRecord(1, "raw one", "same"), runRecord(2, "raw two", "same")
		first, second := keep(t, now, a), keep(t, now, b)
		for _, body := range []string{"of a run that was never kept to the end", "another one"} {
			if _, err := now.Put(t.Context(), []byte(body)); err != nil {
				t.Fatal(err)
			}
		}
		damage(t, bucket, "archive/objects/sha256/notes.txt", []byte("a person's"))
		damage(t, bucket, "other/objects/sha256/ab/abcd", []byte("another archive's"))
		before := objectsIn(t, bucket)

		if sum, gone := collected(t, now, archive.CollectionPolicy{}); len(gone) != 0 || sum.ObjectsKept != 10 {
			t.Errorf("of what is young went %v, kept are %+v", gone, sum)
		}
		dry, would := collected(t, openAfterWeek(t, bucket), archive.CollectionPolicy{DryRun: true})
		if len(would) != 2 || dry.Bytes != int64(len("of a run that was never kept to the end")+len("another one")) || !maps.Equal(before, objectsIn(t, bucket)) {
			t.Errorf("%v would go, %+v", would, dry)
		}
		wet, gone := collected(t, openAfterWeek(t, bucket), archive.CollectionPolicy{})
		if wet != dry || !slices.Equal(gone, would) || len(objectsIn(t, bucket)) != len(before)-2 {
			t.Errorf("%v went, %+v; %v would have, %+v", gone, wet, would, dry)
		}
		loads(t, now, first, a)
		loads(t, now, second, b)
	})
}

func TestRetentionRemovesRunsAndTheirObjects(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		now := storeIn(t, bucket, archive.Options{})
		var kept []archive.Reference
		for n := range 5 {
			kept = append(kept, keep(t, now, runRecord(n, "raw "+fmt.Sprint(n), "same")))
		}
		whole := keep(t, now, experimentRecord(kept[0], kept[1]))
		sum, gone := collected(t, openAfterWeek(t, bucket), archive.CollectionPolicy{Runs: archive.Retention{Count: 1}})
		// Each of the two has a reference, a manifest, a record and raw results.
		if sum.Records != 2 || sum.Objects != 6 || len(gone) != 8 || gone[0] != kept[2].String() && gone[0] != kept[3].String() {
			t.Errorf("%+v went: %v", sum, gone)
		}
		want := []archive.Reference{kept[0], kept[1], kept[4]}
		if got := references(t, now, archive.RunsPrefix); !slices.Equal(got, want) {
			t.Errorf("kept are %v, want %v", got, want)
		}
		readable(t, now)
		// Once the experiment's record is removed, its runs may be.
		collected(t, openAfterWeek(t, bucket), archive.CollectionPolicy{Runs: archive.Retention{Count: 1}, Experiments: archive.Retention{Age: time.Hour}})
		if kept, err := now.Exists(t.Context(), whole); kept || err != nil || len(references(t, now, archive.RunsPrefix)) != 1 {
			t.Errorf("%v %v, %v", kept, err, references(t, now, archive.RunsPrefix))
		}
		readable(t, now)
	})
}

func TestRetentionAppliesPerExperiment(t *testing.T) {
	bucket := inMemory(t)
	now := storeIn(t, bucket, archive.Options{})
	for n := range 4 {
		record := runRecord(n)
		// A recreated experiment of the same name is another one.
		record.Identity.ExperimentUID = fmt.Sprint(n % 2)
		keep(t, now, record)
	}
	collected(t, openAfterWeek(t, bucket), archive.CollectionPolicy{Runs: archive.Retention{Count: 1}})
	if got := references(t, now, archive.RunsPrefix); len(got) != 2 || got[0].ExperimentUID == got[1].ExperimentUID {
		t.Errorf("kept are %v", got)
	}
}

func TestCollectFailsOnUnreadableRecord(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(*testing.T, archive.Bucket, archive.Reference)
		want error
	}{
		"another reference": {func(t *testing.T, bucket archive.Bucket, reference archive.Reference) {
			t.Helper()
			damage(t, bucket, "archive/"+reference.String(), []byte("x"))
		}, archive.ErrMismatch},
		"another manifest": {func(t *testing.T, bucket archive.Bucket, reference archive.Reference) {
			t.Helper()
			damage(t, bucket, objectKey(reference.Manifest), []byte("x"))
		}, archive.ErrMismatch},
		"no manifest": {func(t *testing.T, bucket archive.Bucket, reference archive.Reference) {
			t.Helper()
			expect.NoError(t, bucket.Delete(t.Context(), objectKey(reference.Manifest)))
		}, archive.ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			bucket := inMemory(t)
			now := storeIn(t, bucket, archive.Options{})
			keep(t, now, runRecord(1))
			keep(t, now, runRecord(2))
			c.harm(t, bucket, keep(t, now, runRecord(3)))
			before := objectsIn(t, bucket)
			_, err := openAfterWeek(t, bucket).Collect(t.Context(), archive.CollectionPolicy{Runs: archive.Retention{Count: 1}}, nil)
			fails(t, err, c.want)
			if !strings.Contains(err.Error(), "nothing is deleted") || !maps.Equal(before, objectsIn(t, bucket)) {
				t.Errorf("%v; there is %v", err, objectsIn(t, bucket))
			}
		})
	}
}

func objectKey(digest archive.Digest) string {
	digits := digest.String()[len("sha256:"):]
	return "archive/objects/sha256/" + digits[:2] + "/" + digits
}

func TestCollectNeedsReferences(t *testing.T) {
	bucket := inMemory(t)
	now := storeIn(t, bucket, archive.Options{})
	expect.NoError(t, bucket.Delete(t.Context(), "archive/"+keep(t, now, runRecord(1)).String()))
	_, err := openAfterWeek(t, bucket).Collect(t.Context(), archive.CollectionPolicy{}, nil)
	fails(t, err, archive.ErrNotFound)
	if len(objectsIn(t, bucket)) != 3 {
		t.Errorf("there is %v", objectsIn(t, bucket))
	}
	collected(t, openAfterWeek(t, bucket), archive.CollectionPolicy{WithoutReferences: true})
	if len(objectsIn(t, bucket)) != 0 {
		t.Errorf("there is %v", objectsIn(t, bucket))
	}
}

func TestCollectRejectsShortGrace(t *testing.T) {
	_, err := storeIn(t, inMemory(t), archive.Options{}).Collect(t.Context(), archive.CollectionPolicy{Grace: time.Hour}, nil)
	fails(t, err, archive.ErrInvalidRecord)
}

// After an interruption at any request, retained records are readable, and the next
// collection leaves the same objects as an uninterrupted one.
func TestCollectSurvivesInterruption(t *testing.T) {
	policy := archive.CollectionPolicy{Runs: archive.Retention{Count: 2}}
	fill := func(bucket archive.Bucket) {
		now := storeIn(t, bucket, archive.Options{})
		for n := range 4 {
			keep(t, now, runRecord(n, "raw "+fmt.Sprint(n), "same"))
		}
		keep(t, now, experimentRecord(references(t, now, archive.RunsPrefix)[0]))
	}
	clean := inMemory(t)
	fill(clean)
	collected(t, openAfterWeek(t, clean), policy)
	want := objectsIn(t, clean)
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			inner := inMemory(t)
			fill(inner)
			bucket := &faultyBucket{Bucket: inner, at: at, after: after}
			_, err := openAfterWeek(t, bucket).Collect(t.Context(), policy, nil)
			if bucket.calls < at {
				break
			}
			fails(t, err, archive.ErrUnavailable)
			readable(t, storeIn(t, inner, archive.Options{}))
			collected(t, openAfterWeek(t, inner), policy)
			if got := objectsIn(t, inner); !maps.Equal(got, want) {
				t.Errorf("killed at request %d, there is %v, want %v", at, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		}
	}
}

// hookBucket calls a function before each read.
type hookBucket struct {
	archive.Bucket
	before func(key string)
}

func (m *hookBucket) Read(ctx context.Context, key string, most int64) ([]byte, archive.Object, error) {
	m.before(key)
	return m.Bucket.Read(ctx, key, most)
}

// A record that is kept between the mark and the sweep reuses old, unreferenced objects.
func TestCollectDuringKeepLosesNothing(t *testing.T) {
	inner := inMemory(t)
	now := storeIn(t, inner, archive.Options{})
	keep(t, now, runRecord(1))
	late := runRecord(2, "raw")
	for _, item := range late.Items {
		if _, err := now.Put(t.Context(), item.Bytes); err != nil {
			t.Fatal(err)
		}
	}
	// Only the clock of the keeping store is ahead, so that it rewrites the old object.
	time.Sleep(10 * time.Millisecond)
	done := false
	bucket := &hookBucket{Bucket: inner, before: func(key string) {
		if !done && strings.Contains(key, objectKey(archive.Sum([]byte("raw")))) {
			done = true
			keep(t, storeIn(t, inner, ahead(4*time.Hour)), late)
		}
	}}
	store := storeIn(t, &agingBucket{Bucket: bucket, before: time.Now()}, archive.Options{})
	if _, err := store.Collect(t.Context(), archive.CollectionPolicy{}, nil); err != nil {
		t.Fatal(err)
	}
	if !done {
		t.Fatal("nothing was asked again")
	}
	readable(t, now)
	if got := references(t, now, archive.RunsPrefix); len(got) != 2 {
		t.Errorf("kept are %v", got)
	}
}

// agingBucket makes objects that were written before a moment a week older.
type agingBucket struct {
	archive.Bucket
	before time.Time
}

func (a *agingBucket) age(object archive.Object) archive.Object {
	if object.Modified.Before(a.before) {
		object.Modified = object.Modified.Add(-week)
	}
	return object
}

func (a *agingBucket) Read(ctx context.Context, key string, most int64) ([]byte, archive.Object, error) {
	body, object, err := a.Bucket.Read(ctx, key, most)
	return body, a.age(object), err
}

func (a *agingBucket) List(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
	objects, next, err := a.Bucket.List(ctx, prefix, token)
	for i := range objects {
		objects[i] = a.age(objects[i])
	}
	return objects, next, err
}

// After any collection, all retained records are readable, and no other objects are left.
func TestRecordsAreReadableAfterRandomCollections(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for range 40 {
		bucket := inMemory(t)
		now := storeIn(t, bucket, archive.Options{})
		var kept []archive.Reference
		for n := range 1 + random.IntN(12) {
			record := runRecord(n, fmt.Sprint(random.IntN(3)), fmt.Sprint(random.IntN(9)))
			record.Identity.ExperimentUID = fmt.Sprint(random.IntN(3))
			kept = append(kept, keep(t, now, record))
		}
		for range random.IntN(3) {
			random.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
			record := experimentRecord(kept[:random.IntN(len(kept)+1)]...)
			record.At = record.At.Add(time.Duration(random.IntN(9)) * time.Minute)
			keep(t, now, record)
		}
		policy := archive.CollectionPolicy{Runs: archive.Retention{Count: random.IntN(3)}, Experiments: archive.Retention{Count: random.IntN(2)}}
		sum, _ := collected(t, openAfterWeek(t, bucket), policy)
		readable(t, now)
		if again, gone := collected(t, openAfterWeek(t, bucket), policy); len(gone) != 0 || again.ObjectsKept != sum.ObjectsKept {
			t.Fatalf("a second collection takes %v", gone)
		}
		reached := map[archive.Digest]bool{}
		for _, prefix := range []string{archive.RunsPrefix, archive.ExperimentsPrefix} {
			for record, err := range now.Walk(t.Context(), prefix) {
				expect.NoError(t, err)
				reached[record.Reference.Manifest] = true
				for _, entry := range record.Manifest.Items {
					reached[entry.Digest] = true
				}
				for _, run := range record.Manifest.Runs {
					if there, err := now.Exists(t.Context(), run); !there || err != nil {
						t.Errorf("%s rests on %s, which is gone: %v", record.Reference, run, err)
					}
				}
			}
		}
		if len(reached) != sum.ObjectsKept {
			t.Errorf("%d objects are referred to, %d are kept", len(reached), sum.ObjectsKept)
		}
	}
}

func TestRestoreReferencesFromObjects(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		store := storeIn(t, bucket, archive.Options{})
		for n := range 4 {
			keep(t, store, runRecord(n, "raw "+fmt.Sprint(n), `{"archive":"is only how it begins"`))
		}
		keep(t, store, experimentRecord(references(t, store, archive.RunsPrefix)...))
		want := objectsIn(t, bucket)
		var walked []archive.Reference
		for _, prefix := range []string{archive.ExperimentsPrefix, archive.RunsPrefix} {
			for kept, err := range store.Walk(t.Context(), prefix) {
				expect.NoError(t, err)
				walked = append(walked, kept.Reference)
			}
		}
		for _, reference := range walked {
			expect.NoError(t, bucket.Delete(t.Context(), "archive/"+reference.String()))
		}
		for kept, err := range store.WalkObjects(t.Context()) {
			expect.NoError(t, err)
			expect.NoError(t, store.Restore(t.Context(), kept.Reference))
		}
		if got := objectsIn(t, bucket); len(walked) != 5 || !maps.Equal(got, want) {
			t.Errorf("there is %v, want %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	})
}

// shortReadBucket counts the reads of whole objects.
type shortReadBucket struct {
	archive.Bucket
	whole int
}

func (s *shortReadBucket) Read(ctx context.Context, key string, most int64) ([]byte, archive.Object, error) {
	if most > 1000 {
		s.whole++
	}
	return s.Bucket.Read(ctx, key, most)
}

func TestWalkObjectsReadsOnlyPrefixOfOtherObjects(t *testing.T) {
	bucket := &shortReadBucket{Bucket: inMemory(t)}
	store := storeIn(t, bucket, archive.Options{})
	keep(t, store, runRecord(1, "raw", "samples"))
	bucket.whole = 0
	for _, err := range store.WalkObjects(t.Context()) {
		expect.NoError(t, err)
	}
	if bucket.whole != 1 {
		t.Errorf("%d objects were read as a whole, want the manifest alone", bucket.whole)
	}
}

func TestRestoreRejectsIncompleteRecords(t *testing.T) {
	bucket := inMemory(t)
	store := storeIn(t, bucket, archive.Options{})
	reference := keep(t, store, runRecord(1, "raw"))
	for _, key := range []string{"archive/" + reference.String(), objectKey(archive.Sum([]byte("raw")))} {
		expect.NoError(t, bucket.Delete(t.Context(), key))
	}
	fails(t, store.Restore(t.Context(), reference), archive.ErrNotFound)
	if got := references(t, store, archive.RunsPrefix); len(got) != 0 {
		t.Errorf("restored are %v", got)
	}
}

// An unreadable record does not end the walk.
func TestWalkContinuesAfterUnreadableRecord(t *testing.T) {
	bucket := inMemory(t)
	store := storeIn(t, bucket, archive.Options{})
	var kept []archive.Reference
	for n := range 3 {
		kept = append(kept, keep(t, store, runRecord(n)))
	}
	damage(t, bucket, "archive/"+kept[1].String(), nil)
	damage(t, bucket, objectKey(kept[2].Manifest), []byte(`{"archive":"`))
	count, broken := 0, 0
	for record, err := range store.Walk(t.Context(), archive.RunsPrefix) {
		count++
		if errors.Is(err, archive.ErrMismatch) && slices.Contains(kept[1:], record.Reference) {
			broken++
		}
	}
	if count != 3 || broken != 2 {
		t.Errorf("%d were walked to, %d of them broken", count, broken)
	}
	count, broken = 0, 0
	for _, err := range store.WalkObjects(t.Context()) {
		count++
		if errors.Is(err, archive.ErrMismatch) {
			broken++
		}
	}
	if count != 3 || broken != 1 {
		t.Errorf("%d were walked to by objects, %d of them broken", count, broken)
	}
}
