// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/testing/expect"
)

// patience is the timeout of tests with a store that does not respond. Other stores have
// the default timeout, because the machine may be busy.
const patience = 2 * time.Second

// isEndless returns whether a fault ends only with the timeout.
func isEndless(message string) bool { return strings.Contains(message, "does not respond") }

// TestStoreFaults checks each fault of the store: the record is not stored, each attempt
// has the same error, and no wrong bytes are read. After the fault, the record is stored as
// usual.
func TestStoreFaults(t *testing.T) {
	wanted := expectedFiles(t, record(1))
	flip := func(body []byte) []byte {
		if len(body) > 0 {
			body[len(body)/2] ^= 4
		}
		return body
	}
	half := func(body []byte) []byte { return body[:len(body)/2] }
	old := func([]byte) []byte { return []byte("sha256:" + strings.Repeat("0", 64) + "\n") }
	for name, test := range map[string]struct {
		fault   fault
		want    error
		message string
	}{
		"away: hangs up":                     {hangsUp, archive.ErrUnavailable, "connection was lost"},
		"away: hangs up when it is done":     {hangsUpAfter, archive.ErrUnavailable, "connection was lost"},
		"away: 503":                          {answers(503, "SlowDown"), archive.ErrUnavailable, "returned 503 SlowDown"},
		"away: 500 without a body":           {answers(500, ""), archive.ErrUnavailable, "returned 500"},
		"away: 502 of a gateway":             {answers(502, ""), archive.ErrUnavailable, "returned 502"},
		"slow: no answer":                    {isSlow, archive.ErrUnavailable, "does not respond within 2s"},
		"slow: the answer never ends":        {only(isRead, trickles), archive.ErrUnavailable, "does not respond within 2s"},
		"full":                               {only(isWrite, answers(507, "XMinioStorageFull")), archive.ErrFull, "make room"},
		"full: a quota":                      {only(isWrite, answers(403, "QuotaExceeded")), archive.ErrFull, "make room"},
		"forbids writing":                    {only(isWrite, answers(403, "AccessDenied")), archive.ErrForbidden, "returned 403 AccessDenied"},
		"forbids reading":                    {only(isRead, answers(403, "AccessDenied")), archive.ErrForbidden, "returned 403 AccessDenied"},
		"cuts uploads":                       {only(isWrite, cutsUploads), archive.ErrUnavailable, "connection was lost"},
		"cuts downloads":                     {only(isRead, cutsDownloads), archive.ErrUnavailable, "connection was lost"},
		"changes uploads":                    {only(isWrite, changesUploads), archive.ErrUnavailable, ""},
		"returns other bytes":                {only(isRead, gives(flip)), archive.ErrMismatch, "differ from those"},
		"returns half":                       {only(isRead, gives(half)), archive.ErrMismatch, "bytes, but"},
		"returns nothing":                    {only(isRead, gives(func([]byte) []byte { return nil })), archive.ErrMismatch, "it has 0 bytes"},
		"returns an older object":            {only(isRead, gives(old)), archive.ErrMismatch, "bytes, but"},
		"forgets what it accepted":           {only(isWrite, forgets), archive.ErrNotFound, "does not exist"},
		"reports that the bucket is missing": {answers(404, "NoSuchBucket"), archive.ErrNotFound, "the bucket does not exist"},
		"does not support conditions":        {only(isWrite, answers(501, "NotImplemented")), archive.ErrInvalidLocation, "conditional writes"},
		"is in another region":               {answers(301, "PermanentRedirect"), archive.ErrInvalidLocation, "another region"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bucket, proxy := newBucket(t), newProxy(t)
			options := archive.Options{}
			if isEndless(test.message) {
				options.Timeout = patience
			}
			store := open(t, at(t, proxy.URL, bucket), options)
			proxy.setFault(test.fault)
			began := time.Now()
			_, err := store.Keep(t.Context(), record(1))
			took := time.Since(began)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.message) || !strings.Contains(err.Error(), bucket) {
				t.Fatalf("error %v, want %q with %q", err, test.want, test.message)
			}
			if isEndless(test.message) && took > 5*patience {
				t.Errorf("it took %s", took)
			}
			_, again := store.Keep(t.Context(), record(1))
			if again == nil || again.Error() != err.Error() {
				t.Errorf("the error was %q, then %q", err, again)
			}
			hasNoSecret(t, err.Error(), store.Detail(err))
			t.Logf("%s: %s (%s)", name, err, store.Detail(err))
			if kept := references(t, directly(t, bucket, archive.Options{})); len(kept) != 0 {
				t.Errorf("%v count as stored", kept)
			}

			proxy.setFault(nil)
			store = open(t, at(t, proxy.URL, bucket), archive.Options{})
			reference, err := store.Keep(t.Context(), record(1))
			expect.NoError(t, err)
			if got := files(t, bucket); !maps.Equal(got, wanted) {
				t.Errorf("stored afterwards: %v, want %v", names(got), names(wanted))
			}
			loads(t, store, reference, record(1))
		})
	}
}

func hasNoSecret(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(text, secret) || strings.Contains(text, access) {
			t.Errorf("a credential is in %q", text)
		}
	}
}

// TestReadsAreVerified checks that a stored record is verified when it is read.
func TestReadsAreVerified(t *testing.T) {
	bucket, front := newBucket(t), newProxy(t)
	store := open(t, at(t, front.URL, bucket), archive.Options{})
	reference, err := store.Keep(t.Context(), record(1))
	expect.NoError(t, err)
	other, err := store.Put(t.Context(), raw(9))
	expect.NoError(t, err)
	for name, test := range map[string]struct {
		fault fault
		want  error
	}{
		"a bit":          {gives(func(body []byte) []byte { body[0] ^= 1; return body }), archive.ErrMismatch},
		"half":           {gives(func(body []byte) []byte { return body[:len(body)/2] }), archive.ErrMismatch},
		"more":           {gives(func(body []byte) []byte { return append(body, ' ') }), archive.ErrMismatch},
		"another object": {gives(func([]byte) []byte { return raw(9) }), archive.ErrMismatch},
		"cut off":        {cutsDownloads, archive.ErrUnavailable},
		"forbidden":      {answers(403, "AccessDenied"), archive.ErrForbidden},
		"missing":        {answers(404, "NoSuchKey"), archive.ErrNotFound},
		"an error page":  {answers(502, ""), archive.ErrUnavailable},
		"a page of a firewall": {func(_ *proxy, writer http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(writer, "<html>log in</html>")
		}, archive.ErrMismatch},
	} {
		t.Run(name, func(t *testing.T) {
			front.setFault(test.fault)
			defer front.setFault(nil)
			if got, err := store.Load(t.Context(), reference); !errors.Is(err, test.want) || len(got.Items) != 0 {
				t.Errorf("loading gives %v, want %v", err, test.want)
			}
			if got, err := store.Get(t.Context(), archive.Sum(raw(1))); !errors.Is(err, test.want) || got != nil {
				t.Errorf("getting gives %v, want %v", err, test.want)
			}
			if kept, err := store.Exists(t.Context(), reference); kept || err != nil && !errors.Is(err, test.want) {
				t.Errorf("it is stored: %v, %v", kept, err)
			}
		})
	}
	if got, err := store.Get(t.Context(), other); err != nil || !bytes.Equal(got, raw(9)) {
		t.Error(err)
	}
	loads(t, store, reference, record(1))
}

// TestConnectionBreaksAtAnyRequest closes the connection at each request, before or after
// the store has handled it.
func TestConnectionBreaksAtAnyRequest(t *testing.T) {
	wanted := expectedFiles(t, record(1))
	for name, broken := range map[string]fault{"before": hangsUp, "after": hangsUpAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := newProxy(t)
			for n := int64(1); ; n++ {
				bucket := newBucket(t)
				store := open(t, at(t, front.URL, bucket), archive.Options{Timeout: 10 * time.Second})
				front.requests.Store(0)
				// The fault also hits all later requests, so that the library's own retries
				// fail too.
				front.setFault(func(p *proxy, writer http.ResponseWriter, request *http.Request) {
					if p.requests.Load() >= n {
						broken(p, writer, request)
						return
					}
					p.inner.ServeHTTP(writer, request)
				})
				_, err := store.Keep(t.Context(), record(1))
				front.setFault(nil)
				if err == nil {
					if n < 10 {
						t.Errorf("there were %d requests only", n)
					}
					return
				}
				clean := directly(t, bucket, archive.Options{})
				for _, reference := range references(t, clean) {
					loads(t, clean, reference, record(1))
				}
				reference, err := store.Keep(t.Context(), record(1))
				expect.NoError(t, err, "after request %d", n)
				loads(t, clean, reference, record(1))
				if got := files(t, bucket); !maps.Equal(got, wanted) {
					t.Errorf("broken off at request %d: stored %v, want %v", n, names(got), names(wanted))
				}
			}
		})
	}
}

func TestUnreachableStore(t *testing.T) {
	bucket := newBucket(t)
	strange := httptest.NewTLSServer(http.NotFoundHandler())
	defer strange.Close()
	for name, test := range map[string]struct{ address, message string }{
		"nothing listens":         {"http://127.0.0.1:1", "refuses the connection"},
		"no name":                 {"http://no-such-host.invalid", "does not resolve"},
		"an unknown certificate":  {strange.URL, "not trusted"},
		"TLS where there is none": {strings.Replace(newProxy(t).URL, "http:", "https:", 1), "does not use TLS"},
	} {
		t.Run(name, func(t *testing.T) {
			store := open(t, at(t, test.address, bucket), archive.Options{Timeout: 5 * time.Second})
			_, err := store.Put(t.Context(), []byte("x"))
			if !errors.Is(err, archive.ErrUnavailable) || !strings.Contains(err.Error(), test.message) {
				t.Errorf("error %v (%s), want %q", err, store.Detail(err), test.message)
			}
			t.Log(err)
		})
	}
}

// TestWrongCredentialsAndBuckets checks the errors of the real server.
func TestWrongCredentialsAndBuckets(t *testing.T) {
	bucket := newBucket(t)
	for name, test := range map[string]struct {
		change func(*archive.Location)
		want   error
	}{
		"another secret":     {func(l *archive.Location) { l.Credentials.Secret = "wrong-and-hidden" }, archive.ErrForbidden},
		"another access key": {func(l *archive.Location) { l.Credentials.ID = "wrong-and-hidden" }, archive.ErrForbidden},
		"another bucket":     {func(l *archive.Location) { l.Bucket = "no-such-bucket" }, archive.ErrNotFound},
		"another region":     {func(l *archive.Location) { l.Parameters[archive.ParameterRegion] = "elsewhere" }, archive.ErrInvalidLocation},
	} {
		t.Run(name, func(t *testing.T) {
			location := at(t, "http://"+server.address, bucket)
			test.change(&location)
			store := open(t, location, archive.Options{})
			_, err := store.Keep(t.Context(), record(1))
			if !errors.Is(err, test.want) {
				t.Errorf("error %v (%s), want %v", err, store.Detail(err), test.want)
			}
			if said := fmt.Sprint(err, store.Detail(err)); strings.Contains(said, "wrong-and-hidden") {
				t.Errorf("a credential is in %q", said)
			}
			t.Log(err)
		})
	}
}

func TestConcurrentWriters(t *testing.T) {
	bucket := newBucket(t)
	var group sync.WaitGroup
	for n := range 24 {
		store := directly(t, bucket, archive.Options{})
		group.Go(func() {
			if _, err := store.Keep(t.Context(), record(n%6)); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	store := directly(t, bucket, archive.Options{})
	kept := references(t, store)
	if len(kept) != 6 {
		t.Errorf("%d are stored, want 6", len(kept))
	}
	for n, reference := range kept {
		loads(t, store, reference, record(n))
	}
}

// TestExistingObjectsAreNotOverwritten checks that an existing object with other bytes is
// not overwritten.
func TestExistingObjectsAreNotOverwritten(t *testing.T) {
	bucket := newBucket(t)
	store := directly(t, bucket, archive.Options{})
	reference, err := store.Keep(t.Context(), record(1))
	expect.NoError(t, err)
	for name, body := range files(t, bucket) {
		path := filepath.Join(server.root, bucket, "archive", name)
		damaged := []byte(body)
		damaged[0] ^= 1
		expect.NoError(t, os.WriteFile(path, damaged, 0o600))
		if _, err := store.Keep(t.Context(), record(1)); !errors.Is(err, archive.ErrMismatch) {
			t.Errorf("%s: keeping gives %v", name, err)
		}
		if _, err := store.Load(t.Context(), reference); !errors.Is(err, archive.ErrMismatch) {
			t.Errorf("%s: loading gives %v", name, err)
		}
		if got := files(t, bucket)[name]; got != string(damaged) {
			t.Errorf("%s was overwritten", name)
		}
		expect.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	}
	loads(t, store, reference, record(1))
}

// TestRequestsPerRecord checks the number of requests, because users pay for requests.
func TestRequestsPerRecord(t *testing.T) {
	bucket, proxy := newBucket(t), newProxy(t)
	store := open(t, at(t, proxy.URL, bucket), archive.Options{})
	for _, want := range []int64{10, 10} {
		proxy.requests.Store(0)
		if _, err := store.Keep(t.Context(), record(1)); err != nil {
			t.Fatal(err)
		}
		if got := proxy.requests.Load(); got != want {
			t.Errorf("%d requests, want %d", got, want)
		}
	}
}

func TestPruneRealStore(t *testing.T) {
	bucket := newBucket(t)
	store := directly(t, bucket, archive.Options{})
	for n := range 3 {
		if _, err := store.Keep(t.Context(), record(n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Put(t.Context(), []byte("orphan")); err != nil {
		t.Fatal(err)
	}
	// The objects do not fit into one page of a listing.
	for n := range 1100 {
		if _, err := store.Put(t.Context(), fmt.Appendf(nil, "unreferenced %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	later := directly(t, bucket, archive.Options{Clock: func() time.Time { return time.Now().Add(48 * time.Hour) }})
	policy := archive.CollectionPolicy{Runs: archive.Retention{Count: 2}, DryRun: true}
	would, err := later.Collect(t.Context(), policy, nil)
	expect.NoError(t, err)
	before := len(files(t, bucket))
	policy.DryRun = false
	did, err := later.Collect(t.Context(), policy, nil)
	if err != nil || did != would || did.Objects != 1101+3 || did.Records != 1 || len(files(t, bucket)) != before-did.Objects-1 {
		t.Errorf("%v: it took %+v, would have %+v", err, did, would)
	}
	for n, reference := range references(t, store) {
		loads(t, store, reference, record(n+1))
	}
}

// TestLargeObject checks that an object of many megabytes is sent in one request, so that a
// broken connection leaves no parts.
func TestLargeObject(t *testing.T) {
	bucket, proxy := newBucket(t), newProxy(t)
	store := open(t, at(t, proxy.URL, bucket), archive.Options{})
	body := bytes.Repeat(raw(3), 60)
	digest, err := store.Put(t.Context(), body)
	expect.NoError(t, err)
	if got := proxy.requests.Load(); got != 2 {
		t.Errorf("%d requests, want 2", got)
	}
	if got, err := store.Get(t.Context(), digest); err != nil || !bytes.Equal(got, body) {
		t.Error(err)
	}
}
