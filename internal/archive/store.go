// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Bucket is the interface to an object store. Its errors are a [ResponseError] if the server
// responded, or errors of the system.
type Bucket interface {
	// Write stores a whole object. Without Replace it returns ErrExists if the object exists.
	Write(ctx context.Context, key string, body []byte, how WriteOptions) error
	// Read returns up to most bytes of an object and its metadata, or ErrNotFound.
	Read(ctx context.Context, key string, most int64) ([]byte, Object, error)
	// List returns a page of the objects whose keys start with a prefix, sorted by key, and the
	// token of the next page, nil after the last. The first page's token is nil.
	List(ctx context.Context, prefix string, token []byte) ([]Object, []byte, error)
	// Delete removes an object. It is no error if the object does not exist.
	Delete(ctx context.Context, key string) error
	Close() error
}

// WriteOptions of an object.
type WriteOptions struct {
	MediaType string
	// Replace an existing object.
	Replace bool
}

// Object is the metadata of an object.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Options of a store. Zero values have defaults.
type Options struct {
	// Timeout of each request; default 30 s.
	Timeout time.Duration
	// MaxObject is the maximum size of an object; default 64 MiB.
	MaxObject int64
	// Clock for the ages of objects.
	Clock func() time.Time
}

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxObject = 64 << 20
	// maxRequests limits the requests in flight. A request to a directory that hangs can't be
	// canceled and keeps its slot until it returns.
	maxRequests = 16
)

// Store is an archive in an object store. It is safe for concurrent use.
type Store struct {
	bucket  Bucket
	name    string
	secrets Credentials
	prefix  string
	options Options
	slots   chan struct{}
}

// Provider opens the bucket of a location.
type Provider func(ctx context.Context, location Location) (Bucket, error)

// Open opens an archive with the provider of its location's scheme. It sends no request.
func Open(ctx context.Context, location Location, providers map[string]Provider, options Options) (*Store, error) {
	provider, ok := providers[location.Scheme]
	if !ok {
		return nil, invalidLocation("this program was built without support for %s stores", location.Scheme)
	}
	if err := location.Check(); err != nil {
		return nil, err
	}
	bucket, err := provider(ctx, location)
	if err != nil {
		if errors.Is(err, ErrInvalidLocation) {
			return nil, err
		}
		return nil, New(nil, location, options).explain("opening", "the store", err)
	}
	return New(bucket, location, options), nil
}

// New returns the archive in a bucket.
func New(bucket Bucket, location Location, options Options) *Store {
	options.Timeout = cmp.Or(options.Timeout, defaultTimeout)
	options.MaxObject = cmp.Or(options.MaxObject, defaultMaxObject)
	if options.Clock == nil {
		options.Clock = time.Now
	}
	prefix := ""
	if location.Prefix != "" && location.Scheme != SchemeDirectory {
		prefix = location.Prefix + "/"
	}
	return &Store{
		bucket: bucket, name: location.String(), secrets: location.Credentials, prefix: prefix, options: options,
		slots: make(chan struct{}, maxRequests),
	}
}

// Archives are the default archive of an installation and those of namespaces.
type Archives struct {
	// Default is the archive of all other namespaces, or nil.
	Default *Store
	// ByNamespace has the archives of namespaces; a nil value disables the archive.
	ByNamespace map[string]*Store
}

// ForNamespace returns the archive of a namespace, or nil.
func (a Archives) ForNamespace(namespace string) *Store {
	if own, named := a.ByNamespace[namespace]; named {
		return own
	}
	return a.Default
}

// Close releases the resources of the store's library.
func (s *Store) Close() error { return s.bucket.Close() }

// String is the URL of the archive.
func (s *Store) String() string { return s.name }

// Digest is the SHA-256 of bytes.
type Digest [sha256.Size]byte

// Sum returns the digest of bytes.
func Sum(body []byte) Digest { return sha256.Sum256(body) }

const digestPrefix = "sha256:"

// String is sha256: and 64 hexadecimal digits.
func (d Digest) String() string { return digestPrefix + d.hex() }

func (d Digest) hex() string { return hex.EncodeToString(d[:]) }

// ParseDigest parses the output of String.
func ParseDigest(text string) (Digest, error) {
	var digest Digest
	digits, found := strings.CutPrefix(text, digestPrefix)
	if !found || len(digits) != hex.EncodedLen(len(digest)) || strings.ToLower(digits) != digits {
		return Digest{}, fmt.Errorf("%w: %.80q is not a digest: write sha256: and 64 lowercase hexadecimal digits", ErrInvalidRecord, text)
	}
	if _, err := hex.Decode(digest[:], []byte(digits)); err != nil {
		return Digest{}, fmt.Errorf("%w: %.80q is not a digest: write sha256: and 64 lowercase hexadecimal digits", ErrInvalidRecord, text)
	}
	return digest, nil
}

// MarshalText implements encoding.TextMarshaler.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	*d = parsed
	return err
}

const objectsPrefix = "objects/sha256/"

// key of the object with these bytes.
func (d Digest) key() string {
	digits := d.hex()
	return objectsPrefix + digits[:2] + "/" + digits
}

// parseObjectKey parses the output of key.
func parseObjectKey(key string) (Digest, bool) {
	digits := key[strings.LastIndex(key, "/")+1:]
	digest, err := ParseDigest(digestPrefix + digits)
	return digest, err == nil && digest.key() == key
}

// Put stores bytes under their digest, unless they exist, and reads them back.
func (s *Store) Put(ctx context.Context, body []byte) (Digest, error) {
	return s.put(ctx, body, "application/octet-stream")
}

func (s *Store) put(ctx context.Context, body []byte, mediaType string) (Digest, error) {
	digest := Sum(body)
	return digest, s.writeOnce(ctx, digest.key(), body, mediaType)
}

// ReuseAge is the maximum age of an object that is reused without a write. Older objects are
// rewritten with the same bytes, so that a concurrent collection sees that they are in use.
const ReuseAge = time.Hour

// writeOnce writes an immutable object and reads it back. An existing object with other bytes
// is not changed.
func (s *Store) writeOnce(ctx context.Context, key string, body []byte, mediaType string) error {
	if int64(len(body)) > s.options.MaxObject {
		return &Error{
			Kind: ErrTooLarge, Store: s.name, Operation: "writing", Object: key,
			Reason: fmt.Sprintf("it has %d bytes, but an archive object has at most %d", len(body), s.options.MaxObject),
			Advice: "store it in parts",
		}
	}
	written := s.write(ctx, key, body, WriteOptions{MediaType: mediaType})
	if written != nil && !errors.Is(written, ErrExists) {
		return written
	}
	found, object, err := s.read(ctx, key)
	if isAbsent(err) && written != nil {
		// Another caller writes the object, or it was deleted in between.
		return &Error{Kind: ErrUnavailable, Store: s.name, Operation: "writing", Object: key, Reason: "another operator is writing it", Advice: "PerfLab retries"}
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(found, body) {
		return s.mismatch(key, s.differs(found, body))
	}
	if written == nil || s.options.Clock().Sub(object.Modified) < ReuseAge {
		return nil
	}
	err = s.write(ctx, key, body, WriteOptions{MediaType: mediaType, Replace: true})
	if errors.Is(err, ErrForbidden) {
		// A bucket that rejects replacing has no collections either.
		return nil
	}
	return err
}

func (s *Store) differs(found, wanted []byte) string {
	if len(found) != len(wanted) {
		return fmt.Sprintf("it has %d bytes, but %d were written", len(found), len(wanted))
	}
	return "its bytes differ from those that were written"
}

// Get returns the bytes with this digest.
func (s *Store) Get(ctx context.Context, digest Digest) ([]byte, error) {
	body, _, err := s.read(ctx, digest.key())
	if err != nil {
		return nil, err
	}
	if Sum(body) != digest {
		return nil, s.mismatch(digest.key(), fmt.Sprintf("its %d bytes do not match the digest in its name", len(body)))
	}
	return body, nil
}

// read returns a whole object of up to the maximum size.
func (s *Store) read(ctx context.Context, key string) (body []byte, object Object, err error) {
	return s.readPrefix(ctx, key, s.options.MaxObject, true)
}

// readResult is the result of a read.
type readResult struct {
	body   []byte
	object Object
}

// readPrefix returns the first bytes of an object. With whole, it returns ErrMismatch if the
// object is larger.
func (s *Store) readPrefix(ctx context.Context, key string, most int64, whole bool) ([]byte, Object, error) {
	got, err := call(ctx, s, "reading", key, func(ctx context.Context) (readResult, error) {
		body, object, err := s.bucket.Read(ctx, s.prefix+key, most)
		if err == nil && whole && object.Size > most {
			err = ErrMismatch
		}
		return readResult{body, object}, err
	})
	return got.body, got.object, err
}

func (s *Store) write(ctx context.Context, key string, body []byte, how WriteOptions) error {
	_, err := call(ctx, s, "writing", key, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.bucket.Write(ctx, s.prefix+key, body, how)
	})
	return err
}

func (s *Store) delete(ctx context.Context, key string) error {
	_, err := call(ctx, s, "deleting", key, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, s.bucket.Delete(ctx, s.prefix+key)
	})
	return err
}

// page of a list.
type page struct {
	objects []Object
	next    []byte
}

// objects lists the objects with a prefix.
func (s *Store) objects(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		var token []byte
		for {
			got, err := call(ctx, s, "listing", prefix, func(ctx context.Context) (page, error) {
				objects, next, err := s.bucket.List(ctx, s.prefix+prefix, token)
				return page{objects, next}, err
			})
			if err != nil {
				yield(Object{}, err)
				return
			}
			for _, object := range got.objects {
				object.Key = strings.TrimPrefix(object.Key, s.prefix)
				if !yield(object, nil) {
					return
				}
			}
			if token = got.next; token == nil {
				return
			}
		}
	}
}

// call sends a request and explains its error. It returns after the timeout even if the
// request does not.
func call[T any](ctx context.Context, s *Store, doing, object string, request func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	var none T
	limited, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	done := make(chan outcome, 1)
	select {
	case s.slots <- struct{}{}:
	case <-limited.Done():
		return none, s.timeoutError(ctx, doing, object)
	}
	go func() {
		defer func() { <-s.slots }()
		value, err := request(limited)
		done <- outcome{value, err}
	}()
	select {
	case got := <-done:
		switch {
		case got.err == nil:
			return got.value, nil
		case errors.Is(got.err, ErrExists):
			return none, ErrExists
		case ctx.Err() != nil || limited.Err() != nil:
			return none, s.timeoutError(ctx, doing, object)
		}
		return none, s.explain(doing, object, got.err)
	case <-limited.Done():
		return none, s.timeoutError(ctx, doing, object)
	}
}

// timeoutError is the error of a request that timed out or was canceled.
func (s *Store) timeoutError(ctx context.Context, doing, object string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s %s in the archive %s: %w", doing, object, s.name, context.Canceled)
	}
	return s.explain(doing, object, context.DeadlineExceeded)
}
