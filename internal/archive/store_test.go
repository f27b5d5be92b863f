// SPDX-License-Identifier: Apache-2.0

package archive_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

func TestBytesComeBackUnderTheirDigest(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		random := rand.New(rand.NewPCG(1, 1))
		store := storeIn(t, bucket, archive.Options{})
		for range 50 {
			body := randomBytes(random, 4096)
			digest, err := store.Put(t.Context(), body)
			expect.NoError(t, err)
			got, err := store.Get(t.Context(), digest)
			if err != nil || !bytes.Equal(got, body) {
				t.Fatalf("%d bytes came back as %d, %v", len(body), len(got), err)
			}
			sum := sha256.Sum256(body)
			digits := hex.EncodeToString(sum[:])
			if stored := objectsIn(t, bucket)["archive/objects/sha256/"+digits[:2]+"/"+digits]; stored != string(body) {
				t.Fatalf("the object under %s is not what sha256sum would say", digits)
			}
		}
	})
}

func TestWhatIsThereWithOtherBytesIsLeftAndNotBelieved(t *testing.T) {
	body := []byte("what was measured")
	digest := archive.Sum(body)
	key := "archive/objects/sha256/" + digest.String()[7:9] + "/" + digest.String()[7:]
	for name, other := range map[string][]byte{
		"a byte of it is another": []byte("what was measureD"), "cut off": body[:9], "nothing": {}, "longer": append(body, 0),
	} {
		t.Run(name, func(t *testing.T) {
			eachKind(t, func(t *testing.T, bucket archive.Bucket) {
				store := storeIn(t, bucket, archive.Options{})
				damage(t, bucket, key, other)
				_, err := store.Put(t.Context(), body)
				fails(t, err, archive.ErrMismatch)
				got, err := store.Get(t.Context(), digest)
				fails(t, err, archive.ErrMismatch)
				if got != nil || objectsIn(t, bucket)[key] != string(other) {
					t.Errorf("it gave %q, and holds %q", got, objectsIn(t, bucket)[key])
				}
			})
		})
	}
}

func TestSizesAreBounded(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		wide, narrow := storeIn(t, bucket, archive.Options{}), storeIn(t, bucket, archive.Options{MaxObject: 100})
		digest, err := wide.Put(t.Context(), make([]byte, 101))
		expect.NoError(t, err)
		_, err = narrow.Get(t.Context(), digest)
		fails(t, err, archive.ErrMismatch)
		if !strings.Contains(err.Error(), "exceeds the maximum size") {
			t.Error(err)
		}
		_, err = narrow.Put(t.Context(), make([]byte, 101))
		fails(t, err, archive.ErrTooLarge)
		if _, err = narrow.Put(t.Context(), make([]byte, 100)); err != nil {
			t.Error(err)
		}
	})
}

func TestWhatIsGoneIsDeletedOnceMore(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		damage(t, bucket, "a/b", []byte("x"))
		for range 2 {
			if err := bucket.Delete(t.Context(), "a/b"); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		_, err := storeIn(t, bucket, archive.Options{}).Get(t.Context(), archive.Sum(nil))
		fails(t, err, archive.ErrNotFound)
	})
}

// A missing bucket does not mean that a run was not stored.
func TestWithoutABucketNothingIsSaidOfARecord(t *testing.T) {
	gone := &archive.ResponseError{ServerResponse: archive.ServerResponse{Status: 404, Code: "NoSuchBucket"}, Err: errors.New("no")}
	_, err := storeIn(t, refusing{gone}, archive.Options{}).Exists(t.Context(), archive.Reference{})
	fails(t, err, archive.ErrNotFound)
}

// refusing is a bucket that fails each call.
type refusing struct{ err error }

func (r refusing) Write(context.Context, string, []byte, archive.WriteOptions) error { return r.err }
func (r refusing) Read(context.Context, string, int64) ([]byte, archive.Object, error) {
	return nil, archive.Object{}, r.err
}

func (r refusing) List(context.Context, string, []byte) ([]archive.Object, []byte, error) {
	return nil, nil, r.err
}
func (r refusing) Delete(context.Context, string) error { return r.err }
func (r refusing) Close() error                         { return nil }

func TestErrorsAreSorted(t *testing.T) {
	answered := func(status int, code string) error {
		return &archive.ResponseError{ServerResponse: archive.ServerResponse{Status: status, Code: code}, Err: errors.New("request 4711 of " + secret)}
	}
	for name, test := range map[string]struct {
		err, want error
		why       string
	}{
		"throttled":            {answered(503, "SlowDown"), archive.ErrUnavailable, "503 SlowDown"},
		"too many requests":    {answered(429, ""), archive.ErrUnavailable, "returned 429;"},
		"broken":               {answered(500, "InternalError"), archive.ErrUnavailable, "500"},
		"a clock that is off":  {answered(403, "RequestTimeTooSkewed"), archive.ErrUnavailable, "RequestTimeTooSkewed"},
		"Google's rate":        {answered(403, "rateLimitExceeded"), archive.ErrUnavailable, "rateLimitExceeded"},
		"a damaged upload":     {answered(400, "BadDigest"), archive.ErrUnavailable, "BadDigest"},
		"forbidden":            {answered(403, "AccessDenied"), archive.ErrForbidden, "AccessDenied"},
		"a wrong key":          {answered(403, "InvalidAccessKeyId"), archive.ErrForbidden, "InvalidAccessKeyId"},
		"an old token":         {answered(400, "ExpiredToken"), archive.ErrForbidden, "ExpiredToken"},
		"Azure's identity":     {answered(0, "AuthenticationFailed"), archive.ErrForbidden, "AuthenticationFailed"},
		"full":                 {answered(507, ""), archive.ErrFull, "507"},
		"MinIO is full":        {answered(507, "XMinioStorageFull"), archive.ErrFull, "XMinioStorageFull"},
		"MinIO's quota":        {answered(400, "XMinioAdminBucketQuotaExceeded"), archive.ErrFull, "Quota"},
		"Ceph's quota":         {answered(403, "QuotaExceeded"), archive.ErrFull, "QuotaExceeded"},
		"no object":            {answered(404, "NoSuchKey"), archive.ErrNotFound, "does not exist"},
		"no bucket":            {answered(404, "NoSuchBucket"), archive.ErrNotFound, "the bucket does not exist"},
		"no container":         {answered(404, "ContainerNotFound"), archive.ErrNotFound, "the bucket does not exist"},
		"a 404 of who knows":   {answered(404, "Teapot"), archive.ErrUnavailable, "404 Teapot"},
		"an unknown user":      {answered(404, "XAdminUserNotFound"), archive.ErrForbidden, "UserNotFound"},
		"elsewhere":            {answered(301, "PermanentRedirect"), archive.ErrInvalidLocation, "another region"},
		"a redirect":           {answered(302, ""), archive.ErrInvalidLocation, "returned 302"},
		"a redirect for now":   {answered(307, "TemporaryRedirect"), archive.ErrUnavailable, "307 TemporaryRedirect"},
		"a denied address":     {&net.OpError{Op: "dial", Err: &egress.Denied{What: "a loopback address"}}, archive.ErrInvalidLocation, "the store's address is a loopback address, which --allow-targets does not list"},
		"another region":       {answered(400, "AuthorizationHeaderMalformed"), archive.ErrInvalidLocation, "another region"},
		"an old server":        {answered(501, "NotImplemented"), archive.ErrInvalidLocation, "conditional writes"},
		"a disk that is full":  {&net.OpError{Err: syscall.ENOSPC}, archive.ErrFull, "no space"},
		"a quota of a disk":    {fmt.Errorf("writing: %w", syscall.EDQUOT), archive.ErrFull, "no space"},
		"a directory's rights": {syscall.EACCES, archive.ErrForbidden, "may not read or write"},
		"a volume that went":   {syscall.ESTALE, archive.ErrUnavailable, "can't be read"},
		"no name":              {&net.DNSError{Name: secret, IsNotFound: true}, archive.ErrUnavailable, "does not resolve"},
		"connection refused":   {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, archive.ErrUnavailable, "refuses the connection"},
		"broken off":           {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, archive.ErrUnavailable, "connection was lost"},
		"broken off, writing":  {&net.OpError{Op: "write", Err: net.ErrClosed}, archive.ErrUnavailable, "connection was lost"},
		"something else":       {errors.New("request 4711 of " + secret), archive.ErrUnavailable, "can't be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			at := location(t, "s3://perflab/archive?region=here")
			at.Credentials = archive.Credentials{ID: access, Secret: secret}
			store := archive.New(refusing{test.err}, at, archive.Options{})
			_, err := store.Put(t.Context(), nil)
			fails(t, err, test.want)
			_, again := store.Put(t.Context(), nil)
			text := err.Error()
			if text != again.Error() || !strings.Contains(text, test.why) || !strings.Contains(text, "s3://perflab/archive") || !strings.Contains(text, "objects/sha256/e3/") {
				t.Errorf("it says %q, then %q, want %q in it", text, again, test.why)
			}
			if said := fmt.Sprintf("%s %+v %s", text, errors.Unwrap(err), store.Detail(err)); strings.Contains(said, secret) || strings.Contains(said, access) {
				t.Errorf("a credential is in %q", said)
			}
			if strings.Contains(text, "4711") || strings.Contains(text, "\n") {
				t.Errorf("it does not stay the same: %q", text)
			}
			_, err = store.Get(t.Context(), archive.Sum(nil))
			fails(t, err, test.want)
			for _, err := range store.List(t.Context(), archive.RunsPrefix) {
				fails(t, err, test.want)
			}
		})
	}
}

// hanging is a bucket that ignores cancellation, like a volume whose server is unavailable.
type hanging struct {
	refusing
	until chan struct{}
	mu    sync.Mutex
	on    int
}

func (h *hanging) Read(context.Context, string, int64) ([]byte, archive.Object, error) {
	h.mu.Lock()
	h.on++
	h.mu.Unlock()
	<-h.until
	return nil, archive.Object{}, nil
}

func TestEachRequestEndsInTime(t *testing.T) {
	bucket := &hanging{until: make(chan struct{})}
	defer close(bucket.until)
	store := storeIn(t, bucket, archive.Options{Timeout: 20 * time.Millisecond})
	for range 40 {
		_, err := store.Get(t.Context(), archive.Sum(nil))
		fails(t, err, archive.ErrUnavailable)
		if !strings.Contains(err.Error(), "does not respond within 20ms") {
			t.Fatal(err)
		}
	}
	bucket.mu.Lock()
	defer bucket.mu.Unlock()
	if bucket.on > 16 {
		t.Errorf("%d requests are waited for", bucket.on)
	}
}

func TestWhoGivesUpIsNotToldThatTheStoreIsAway(t *testing.T) {
	bucket := &hanging{until: make(chan struct{})}
	defer close(bucket.until)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := storeIn(t, bucket, archive.Options{}).Get(ctx, archive.Sum(nil))
	if !errors.Is(err, context.Canceled) || errors.Is(err, archive.ErrUnavailable) {
		t.Errorf("the error is %v", err)
	}
}

func TestManyWriteTheSameAtOnce(t *testing.T) {
	eachKind(t, func(t *testing.T, bucket archive.Bucket) {
		store := storeIn(t, bucket, archive.Options{})
		var group sync.WaitGroup
		for n := range 32 {
			group.Go(func() {
				if _, err := store.Put(t.Context(), fmt.Appendf(nil, "body %d", n%4)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if got := len(objectsIn(t, bucket)); got != 4 {
			t.Errorf("there are %d objects, want 4", got)
		}
	})
}

func TestAStoreThatIsNotBuiltInIsNamed(t *testing.T) {
	_, err := archive.Open(t.Context(), location(t, "gs://perflab"), nil, archive.Options{})
	fails(t, err, archive.ErrInvalidLocation)
	if !strings.Contains(err.Error(), "without support for gs stores") {
		t.Error(err)
	}
}

// BenchmarkSizes reports the size of an archived experiment, and what compression would save:
// of texts, and of raw results, which are already compressed. Its times are meaningless.
func BenchmarkSizes(b *testing.B) {
	input := recorded.WithEvidence(20)
	texts := [][]byte{encoded(b, input.Experiment), []byte(input.Manifest.Data["manifest.json"])}
	for i := range input.Runs {
		texts = append(texts, encoded(b, input.Runs[i]))
	}
	var page bytes.Buffer
	expect.NoError(b, report.Write(&page, input))
	var packed [][]byte
	for i := range input.Raw {
		for _, body := range input.Raw[i].BinaryData {
			packed = append(packed, body)
		}
	}
	for b.Loop() {
	}
	for name, bodies := range map[string][][]byte{"text": texts, "raw": packed, "export": {page.Bytes()}} {
		plain, small := 0, 0
		for _, body := range bodies {
			plain += len(body)
			small += compressed(b, body)
		}
		b.ReportMetric(float64(plain)/float64(len(input.Runs)), name+"-bytes/run")
		b.ReportMetric(float64(plain)/float64(max(small, 1)), name+"-ratio")
	}
}

func encoded(b *testing.B, value any) []byte {
	b.Helper()
	text, err := json.Marshal(value)
	expect.NoError(b, err)
	return text
}

func compressed(b *testing.B, body []byte) int {
	b.Helper()
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	if _, err := writer.Write(body); err != nil {
		b.Fatal(err)
	}
	expect.NoError(b, writer.Close())
	return buffer.Len()
}
