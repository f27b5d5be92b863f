// SPDX-License-Identifier: Apache-2.0

// Package archive_test stores records in a real S3 server, Versity's gateway over a
// directory, behind a proxy that simulates failures of stores and networks.
package archive_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/archive/stores"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
	"perflab.dev/perflab/test/archive/gateway"
)

const (
	access = "a-test's-access-key"
	secret = "a-test's-secret-key"
)

// server is the S3 server of all tests, because a process can have only one. Each test has
// its own bucket.
var server struct {
	address string
	root    string
}

func TestMain(m *testing.M) {
	code, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the S3 server:", err)
		code = 1
	}
	os.Exit(code)
}

func withServer(run func() int) (code int, err error) {
	base, err := os.MkdirTemp("", "perflab-archive-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(base) }()
	server.root = filepath.Join(base, "objects")
	if err := os.Mkdir(server.root, 0o700); err != nil {
		return 1, err
	}
	started, err := gateway.Start(server.root, filepath.Join(base, "attributes"), access, secret)
	if err != nil {
		return 1, err
	}
	defer started.Stop()
	server.address = started.Address
	return run(), nil
}

// newBucket creates an empty bucket, which is a directory of the server.
func newBucket(t *testing.T) string {
	t.Helper()
	name := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(t.Name())), "-")
	name = fmt.Sprintf("%.40s-%d", name, time.Now().UnixNano()%1e9)
	expect.NoError(t, os.Mkdir(filepath.Join(server.root, name), 0o700))
	return name
}

// at returns the location of a bucket at an address, which may be the proxy's.
func at(t *testing.T, address, bucket string) archive.Location {
	t.Helper()
	location, err := archive.ParseLocation(fmt.Sprintf("s3://%s/archive?endpoint=%s&region=%s&use_path_style=true", bucket, address, gateway.Region))
	expect.NoError(t, err)
	location.Credentials = archive.Credentials{ID: access, Secret: secret}
	return location
}

func open(t *testing.T, location archive.Location, options archive.Options) *archive.Store {
	t.Helper()
	location.Client = loopback.Rules().Client(0)
	store, err := stores.Open(t.Context(), location, options)
	expect.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// directly opens the bucket without a proxy.
func directly(t *testing.T, bucket string, options archive.Options) *archive.Store {
	t.Helper()
	return open(t, at(t, "http://"+server.address, bucket), options)
}

// files returns the files of a bucket, as they are on the server's disk.
func files(t *testing.T, bucket string) map[string]string {
	t.Helper()
	found := map[string]string{}
	root := filepath.Join(server.root, bucket, "archive")
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := os.ReadFile(path)
		found[strings.TrimPrefix(path, root+"/")] = string(body)
		return err
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return found
}

func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

// record returns the record of a run. Its raw results are larger than a packet.
func record(n int) archive.Record {
	name := fmt.Sprintf("heap-b%d", n)
	return archive.Record{
		Identity: archive.Identity{Namespace: "lab", Experiment: "heap", ExperimentUID: "e-1", Run: name, RunUID: "u-" + name, Attempt: 1},
		At:       time.Date(2026, 3, 9, 7, n, 0, 0, time.UTC),
		Items: []archive.Item{
			{Kind: "ConfigMap", Name: name, Bytes: raw(n)},
			{Kind: "PerfRun", Name: name, MediaType: "application/json", Bytes: fmt.Appendf(nil, `{"name":%q}`, name)},
			{Kind: "Plan", Name: "heap", MediaType: "application/json", Bytes: []byte(`{"blocks":6}`)},
		},
	}
}

func raw(n int) []byte {
	body := make([]byte, 300_000)
	state := uint32(n + 1)
	for i := range body {
		state = state*1664525 + 1013904223
		body[i] = byte(state >> 24)
	}
	return body
}

// expectedFiles returns the files of records that are stored without failures.
func expectedFiles(t *testing.T, records ...archive.Record) map[string]string {
	t.Helper()
	bucket := newBucket(t)
	for _, one := range records {
		if _, err := directly(t, bucket, archive.Options{}).Keep(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	return files(t, bucket)
}

func loads(t *testing.T, store *archive.Store, reference archive.Reference, want archive.Record) {
	t.Helper()
	got, err := store.Load(t.Context(), reference)
	if err != nil || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%s does not return the stored record: %v", reference, err)
	}
}

func references(t *testing.T, store *archive.Store) []archive.Reference {
	t.Helper()
	var found []archive.Reference
	for reference, err := range store.List(t.Context(), "") {
		expect.NoError(t, err)
		found = append(found, reference)
	}
	return found
}
