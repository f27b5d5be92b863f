// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestPointsAreSortedByTime(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		store := storeIn(t, bucket, archive.Options{})
		var want []string
		for n := range 4 {
			record := recordInSeries()
			// Neither names nor UIDs are in the order of time.
			record.Identity.Experiment, record.Identity.ExperimentUID = fmt.Sprintf("heap-%d", n*7%4), fmt.Sprintf("e-%d", 9-n)
			record.SeriesEntry.At = record.SeriesEntry.At.AddDate(0, n, 0)
			keep(t, store, record)
			want = append(want, record.Identity.ExperimentUID)
		}
		var got []string
		for _, point := range points(t, store, "cico.0b") {
			got = append(got, point.ExperimentUID)
			body, err := store.Get(t.Context(), point.Item)
			if err != nil || string(body) != `{"values":[1,2,3]}` {
				t.Errorf("%s leads to %q, %v", point, body, err)
			}
		}
		if !slices.Equal(got, want) || len(points(t, store, "")) != 8 || len(points(t, store, "cico.0")) != 0 {
			t.Errorf("the points are of %v, want %v; in all series there are %d", got, want, len(points(t, store, "")))
		}
	})
}

// The index can be rebuilt from the objects, byte by byte.
func TestIndexRebuildsSeries(t *testing.T) {
	bucket := inMemory(t)
	store := storeIn(t, bucket, archive.Options{})
	run := keep(t, store, runRecord(1))
	keep(t, store, recordInSeries(run))
	other := recordInSeries(run)
	other.Identity.ExperimentUID = "e-2"
	keep(t, store, other)
	want := objectsIn(t, bucket)
	for name, lost := range map[string]string{"points": "archive/series/", "points and references": "archive/"} {
		for key := range want {
			if strings.HasPrefix(key, lost) && !strings.HasPrefix(key, "archive/objects/") {
				expect.NoError(t, bucket.Delete(t.Context(), key))
			}
		}
		if maps.Equal(want, objectsIn(t, bucket)) || len(points(t, store, "")) != 0 {
			t.Fatal("nothing is lost")
		}
		for kept, err := range store.WalkObjects(t.Context()) {
			expect.NoError(t, err)
			expect.NoError(t, store.Restore(t.Context(), kept.Reference))
		}
		if got := objectsIn(t, bucket); !maps.Equal(want, got) {
			t.Errorf("%s: there is %v, want %v", name, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

func TestCollectRemovesPointsOfExperiment(t *testing.T) {
	bucket := inMemory(t)
	now := storeIn(t, bucket, archive.Options{})
	keep(t, now, recordInSeries())
	other := recordInSeries()
	other.Identity.ExperimentUID, other.At = "e-2", ended.AddDate(0, 0, -60)
	other.Items[1].Bytes = []byte(`{"values":[4]}`)
	other.SeriesEntry.Item = archive.Sum(other.Items[1].Bytes)
	keep(t, now, other)
	broken := points(t, now, "")[0].String() + ".18b2a6f1c3d4e5f6.tmp"
	damage(t, bucket, "archive/"+broken, nil)
	damage(t, bucket, "archive/series/lab/notes.txt", []byte("a person's"))
	later := storeIn(t, bucket, archive.Options{Clock: func() time.Time { return time.Now().AddDate(0, 0, 2) }})
	policy := archive.CollectionPolicy{Experiments: archive.Retention{Age: time.Since(ended) + 30*24*time.Hour}, DryRun: true}
	_, would := collected(t, later, policy)
	policy.DryRun = false
	_, gone := collected(t, later, policy)
	if !slices.Equal(would, gone) || !slices.Contains(gone, broken) {
		t.Errorf("%v went, %v would have", gone, would)
	}
	left := points(t, now, "")
	if len(left) != 2 || left[0].ExperimentUID != "e-1" || left[1].ExperimentUID != "e-1" {
		t.Errorf("left are %v", left)
	}
	// References are removed before the objects they refer to.
	at := func(prefix string) int {
		return slices.IndexFunc(gone, func(key string) bool { return strings.HasPrefix(key, prefix) })
	}
	if experiments, series, objects := at("experiments/"), at("series/"), at("objects/"); experiments >= series || series >= objects {
		t.Errorf("they went in the order %v", gone)
	}
	if !slices.Contains(slices.Collect(maps.Keys(objectsIn(t, bucket))), "archive/series/lab/notes.txt") {
		t.Error("another program's file was removed")
	}
}

func TestKeepRejectsInvalidSeriesEntries(t *testing.T) {
	store := storeIn(t, inMemory(t), archive.Options{})
	for why, change := range map[string]func(*archive.Record){
		"lacks the item":       func(r *archive.Record) { r.SeriesEntry.Item = archive.Sum(nil) },
		"not the name of":      func(r *archive.Record) { r.SeriesEntry.Series = []string{"../runs"} },
		"in 0 series":          func(r *archive.Record) { r.SeriesEntry.Series = nil },
		"in 65 series":         func(r *archive.Record) { r.SeriesEntry.Series = slices.Repeat([]string{"a"}, 65) },
		"has no time":          func(r *archive.Record) { r.SeriesEntry.At = time.Time{} },
		"can't be in a series": func(r *archive.Record) { r.Identity.Run, r.Identity.RunUID = "run", "run" },
	} {
		record := recordInSeries()
		change(&record)
		if _, err := store.Keep(t.Context(), record); !errors.Is(err, archive.ErrInvalidRecord) || !strings.Contains(err.Error(), why) {
			t.Errorf("told is %v, want %q", err, why)
		}
	}
}

// copyBucket is a bucket whose objects all have the same time, as after copying.
type copyBucket struct{ archive.Bucket }

func (c copyBucket) List(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
	objects, next, err := c.Bucket.List(ctx, prefix, token)
	for i := range objects {
		objects[i].Modified = ended
	}
	return objects, next, err
}

// Of records with the same time, the last one kept is current, even if it equals an earlier
// one, and in a copied archive. Keeping it again changes nothing.
func TestCurrentIsLatestRecord(t *testing.T) {
	bucket := copyBucket{inMemory(t)}
	store := storeIn(t, bucket, archive.Options{})
	as := func(page string) archive.Record {
		record := recordInSeries()
		record.Items[0].Bytes = []byte(page)
		return record
	}
	standing := func() (archive.Reference, string) {
		t.Helper()
		count := 0
		var last archive.Reference
		for kept, err := range store.Current(t.Context(), archive.ExperimentsPrefix) {
			expect.NoError(t, err)
			last, count = kept.Reference, count+1
		}
		record, err := store.Load(t.Context(), last)
		if err != nil || count != 1 {
			t.Fatalf("%d records stand, %v", count, err)
		}
		return last, string(record.Items[len(record.Items)-1].Bytes)
	}
	seen := map[archive.Reference]bool{}
	for _, page := range []string{"a", "b", "a", "c", "b", "a"} {
		reference := keep(t, store, as(page))
		before := objectsIn(t, bucket)
		if again := keep(t, store, as(page)); again != reference || !maps.Equal(before, objectsIn(t, bucket)) {
			t.Errorf("keeping %q again gives %s, and gave %s", page, again, reference)
		}
		if last, told := standing(); last != reference || told != page {
			t.Errorf("%s stands with %q, want %q", last, told, page)
		}
		seen[reference] = true
	}
	if len(seen) != 6 || len(points(t, store, "cico.0b")) != 1 {
		t.Errorf("%d records and %d points", len(seen), len(points(t, store, "cico.0b")))
	}
	// A later end time takes precedence over a later write.
	late := as("late")
	late.At = late.At.Add(time.Minute)
	reference := keep(t, store, late)
	keep(t, store, as("a"))
	if last, told := standing(); last != reference || told != "late" {
		t.Errorf("%s stands with %q", last, told)
	}
}

// An experiment with an unreadable earlier record is not kept: the next sequence number is
// unknown.
func TestKeepFailsAfterUnreadableRecord(t *testing.T) {
	bucket := inMemory(t)
	store := storeIn(t, bucket, archive.Options{})
	first := keep(t, store, recordInSeries())
	damage(t, bucket, objectKey(first.Manifest), []byte("x"))
	record := recordInSeries()
	record.Items[0].Bytes = []byte("another page")
	_, err := store.Keep(t.Context(), record)
	fails(t, err, archive.ErrMismatch)
}

// recordingBucket records the requests.
type recordingBucket struct {
	archive.Bucket
	mu       sync.Mutex
	prefixes []string
	keys     []string
}

func (l *recordingBucket) List(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.prefixes = append(l.prefixes, prefix)
	return l.Bucket.List(ctx, prefix, token)
}

func (l *recordingBucket) Read(ctx context.Context, key string, most int64) ([]byte, archive.Object, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys = append(l.keys, key)
	return l.Bucket.Read(ctx, key, most)
}

// The cost of Keep does not grow with the archive: it lists only its own experiment, and
// sends as many requests as in an empty archive.
func TestKeepReadsOnlyItsExperiment(t *testing.T) {
	requests := func(others int) int {
		inner := inMemory(t)
		store := storeIn(t, inner, archive.Options{})
		for n := range others {
			record := recordInSeries()
			record.Identity.ExperimentUID, record.Items[0].Bytes = fmt.Sprintf("other-%d", n), fmt.Append(nil, n)
			keep(t, store, record)
		}
		bucket := &recordingBucket{Bucket: inner}
		store = storeIn(t, bucket, archive.Options{})
		keep(t, store, recordInSeries(keep(t, store, runRecord(1, "raw"))))
		for _, prefix := range bucket.prefixes {
			if !strings.Contains(prefix, "/e-1/") {
				t.Errorf("it lists %s", prefix)
			}
		}
		return len(bucket.prefixes) + len(bucket.keys)
	}
	if empty, full := requests(0), requests(50); empty != full {
		t.Errorf("it makes %d requests in an empty archive, and %d in one with 50 experiments", empty, full)
	}
}

func counting(most int, fails error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for n := range most {
			if !yield(n, nil) {
				return
			}
		}
		if fails != nil {
			yield(0, fails)
		}
	}
}

func TestInParallelKeepsOrder(t *testing.T) {
	var on, most atomic.Int32
	odd := errors.New("odd")
	square := func(_ context.Context, n int) (int, error) {
		now := on.Add(1)
		defer on.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		time.Sleep(time.Duration(n*7%5) * time.Millisecond)
		if n == 33 {
			return 0, odd
		}
		return n * n, nil
	}
	at := 0
	for got, err := range archive.InParallel(t.Context(), counting(100, errKilled), square) {
		switch {
		case at == 100 && errors.Is(err, errKilled), at == 33 && errors.Is(err, odd):
		case got != at*at || err != nil:
			t.Errorf("%d gives %d, %v", at, got, err)
		}
		at++
	}
	if at != 101 || most.Load() < 2 || most.Load() > 12 {
		t.Errorf("%d outcomes, %d at once", at, most.Load())
	}
	// Leaving the loop cancels the calls in progress.
	ended := make(chan struct{})
	for range archive.InParallel(t.Context(), counting(2, nil), func(ctx context.Context, n int) (int, error) {
		if n == 1 {
			<-ctx.Done()
			close(ended)
		}
		return n, nil
	}) {
		break
	}
	<-ended
}
