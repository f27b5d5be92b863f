// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores/bucket"
	"perflab.dev/perflab/internal/archive/stores/directory"
	"perflab.dev/perflab/internal/testing/expect"
)

// inMemory is a bucket that holds its objects in memory.
func inMemory(t *testing.T) archive.Bucket {
	t.Helper()
	result := &bucket.Bucket{Blob: memblob.OpenBucket(nil)}
	t.Cleanup(func() { _ = result.Close() })
	return result
}

func inDirectory(t *testing.T) archive.Bucket {
	t.Helper()
	result, err := directory.Open(t.Context(), location(t, "file://"+t.TempDir()))
	expect.NoError(t, err)
	t.Cleanup(func() { _ = result.Close() })
	return result
}

// eachKind runs a test with each kind of bucket that needs no server.
func eachKind(t *testing.T, test func(*testing.T, archive.Bucket)) {
	t.Helper()
	for name, open := range map[string]func(*testing.T) archive.Bucket{"memory": inMemory, "directory": inDirectory} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func location(t *testing.T, url string) archive.Location {
	t.Helper()
	parsed, err := archive.ParseLocation(url)
	expect.NoError(t, err)
	return parsed
}

func storeIn(t *testing.T, bucket archive.Bucket, options archive.Options) *archive.Store {
	t.Helper()
	return archive.New(bucket, location(t, "s3://perflab/archive?region=here"), options)
}

// ahead returns options with a clock that is ahead of the bucket's.
func ahead(by time.Duration) archive.Options {
	return archive.Options{Clock: func() time.Time { return time.Now().Add(by) }}
}

// faultyBucket is a bucket whose nth call fails, before or after its effect.
type faultyBucket struct {
	archive.Bucket
	mu     sync.Mutex
	calls  int
	at     int
	after  bool
	writes []string
}

var errKilled = errors.New("killed")

func (f *faultyBucket) begin(write string) (fails bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if write != "" {
		f.writes = append(f.writes, write)
	}
	return f.calls == f.at
}

func (f *faultyBucket) Write(ctx context.Context, key string, body []byte, how archive.WriteOptions) error {
	fails := f.begin(key)
	if fails && !f.after {
		return errKilled
	}
	if err := f.Bucket.Write(ctx, key, body, how); err != nil {
		return err
	}
	return map[bool]error{true: errKilled}[fails]
}

func (f *faultyBucket) Read(ctx context.Context, key string, most int64) ([]byte, archive.Object, error) {
	if f.begin("") {
		return nil, archive.Object{}, errKilled
	}
	return f.Bucket.Read(ctx, key, most)
}

func (f *faultyBucket) List(ctx context.Context, prefix string, token []byte) ([]archive.Object, []byte, error) {
	if f.begin("") {
		return nil, nil, errKilled
	}
	return f.Bucket.List(ctx, prefix, token)
}

func (f *faultyBucket) Delete(ctx context.Context, key string) error {
	fails := f.begin("")
	if fails && !f.after {
		return errKilled
	}
	if err := f.Bucket.Delete(ctx, key); err != nil {
		return err
	}
	return map[bool]error{true: errKilled}[fails]
}

// objectsIn returns the contents of a bucket.
func objectsIn(t *testing.T, bucket archive.Bucket) map[string]string {
	t.Helper()
	result := map[string]string{}
	var token []byte
	for {
		objects, next, err := bucket.List(t.Context(), "", token)
		expect.NoError(t, err)
		for _, object := range objects {
			body, _, err := bucket.Read(t.Context(), object.Key, 1<<30)
			expect.NoError(t, err)
			result[object.Key] = string(body)
		}
		if token = next; token == nil {
			return result
		}
	}
}

// damage overwrites an object with other bytes.
func damage(t *testing.T, bucket archive.Bucket, key string, body []byte) {
	t.Helper()
	expect.NoError(t, bucket.Write(t.Context(), key, body, archive.WriteOptions{Replace: true}))
}

var ended = time.Date(2026, 3, 9, 7, 12, 44, 0, time.UTC)

// runRecord returns a run's record, with an item that all runs share.
func runRecord(n int, items ...string) archive.Record {
	name := fmt.Sprintf("heap-b%d", n)
	record := archive.Record{
		Identity: archive.Identity{Namespace: "lab", Experiment: "heap", ExperimentUID: "e-1", Run: name, RunUID: "u-" + name, Attempt: 1},
		At:       ended.Add(time.Duration(n) * time.Minute),
		Items: []archive.Item{
			{Kind: "PerfRun", Name: name, MediaType: "application/json", Bytes: fmt.Appendf(nil, `{"name":%q}`, name)},
			{Kind: "Plan", Name: "heap", MediaType: "application/json", Bytes: []byte(`{"blocks":6}`)},
		},
	}
	for i, text := range items {
		record.Items = append(record.Items, archive.Item{Kind: "ConfigMap", Name: fmt.Sprintf("%s-%d", name, i), Bytes: []byte(text)})
	}
	return record
}

func experimentRecord(runs ...archive.Reference) archive.Record {
	return archive.Record{
		Identity: archive.Identity{Namespace: "lab", Experiment: "heap", ExperimentUID: "e-1"},
		At:       ended.Add(time.Hour),
		Items:    []archive.Item{{Kind: "Report", Name: "heap", MediaType: "text/html", Bytes: []byte("<p>a page</p>")}},
		Runs:     runs,
	}
}

// recordInSeries returns an experiment's record with a point in each of two series.
func recordInSeries(runs ...archive.Reference) archive.Record {
	record := experimentRecord(runs...)
	measured := []byte(`{"values":[1,2,3]}`)
	record.Items = append(record.Items, archive.Item{Kind: "Measured", Name: "heap", MediaType: "application/json", Bytes: measured})
	record.SeriesEntry = &archive.SeriesEntry{Series: []string{"imports.0a", "cico.0b"}, At: ended.Add(-time.Hour), Item: archive.Sum(measured)}
	return record
}

func points(t *testing.T, store *archive.Store, series string) []archive.Point {
	t.Helper()
	var found []archive.Point
	for point, err := range store.Points(t.Context(), "lab", series) {
		expect.NoError(t, err)
		found = append(found, point)
	}
	return found
}

func keep(t *testing.T, store *archive.Store, record archive.Record) archive.Reference {
	t.Helper()
	reference, err := store.Keep(t.Context(), record)
	expect.NoError(t, err)
	return reference
}

// sorted returns a record with its items in the order of a manifest.
func sorted(record archive.Record) archive.Record {
	record.Items = slices.Clone(record.Items)
	slices.SortFunc(record.Items, func(a, b archive.Item) int {
		if a.Kind != b.Kind {
			return map[bool]int{true: -1, false: 1}[a.Kind < b.Kind]
		}
		return map[bool]int{true: -1, false: 1}[a.Name < b.Name]
	})
	return record
}

func loads(t *testing.T, store *archive.Store, reference archive.Reference, want archive.Record) {
	t.Helper()
	got, err := store.Load(t.Context(), reference)
	if err != nil {
		t.Errorf("%s: %v", reference, err)
		return
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", sorted(want)) {
		t.Errorf("%s gives\n%+v\nwant\n%+v", reference, got, sorted(want))
	}
}

func references(t *testing.T, store *archive.Store, prefix string) []archive.Reference {
	t.Helper()
	var result []archive.Reference
	for reference, err := range store.List(t.Context(), prefix) {
		expect.NoError(t, err)
		result = append(result, reference)
	}
	return result
}

func fails(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want one that is %q", err, want)
	}
}

func randomBytes(random *rand.Rand, most int) []byte {
	body := make([]byte, random.IntN(most))
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	return body
}
