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

// Bucket is what an archive needs of an object store. An error is an [Answered] where
// a server answered, or what the system said.
type Bucket interface {
	// Write stores an object, and all of it. Unless it replaces, it stores nothing
	// where there is one already, and gives ErrExists.
	Write(ctx context.Context, key string, body []byte, how Writing) error
	// Read gives the first bytes of an object, no more than most, and what is known of
	// it. ErrNotFound: there is none.
	Read(ctx context.Context, key string, most int64) ([]byte, Object, error)
	// List gives a page of the objects whose keys begin with a prefix, in the order of
	// their keys, and the token of the next page; nil: it was the last one. The first
	// page's token is nil.
	List(ctx context.Context, prefix string, token []byte) ([]Object, []byte, error)
	// Delete takes an object away. One that is not there is none of its errors.
	Delete(ctx context.Context, key string) error
	Close() error
}

// Writing says how an object is written.
type Writing struct {
	MediaType string
	// Replace what is there.
	Replace bool
}

// Object is what a store knows of an object.
type Object struct {
	Key      string
	Size     int64
	Modified time.Time
}

// Options of a store; what is zero has its default.
type Options struct {
	// Timeout of each request, 30 s.
	Timeout time.Duration
	// MaxObject is the largest object that is written or read, 64 MiB.
	MaxObject int64
	// Clock tells the time that objects' ages are counted by.
	Clock func() time.Time
}

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxObject = 64 << 20
	// maxRequests are on at once. A directory that hangs can't be given up, so what
	// asks it holds its place until it answers.
	maxRequests = 16
)

// Store is an archive in an object store. It may be used by many at once.
type Store struct {
	bucket  Bucket
	name    string
	secrets Credentials
	prefix  string
	options Options
	places  chan struct{}
}

// Provider opens the bucket of a location.
type Provider func(ctx context.Context, location Location) (Bucket, error)

// Open an archive, with the provider of its location's scheme. It asks the store
// nothing.
func Open(ctx context.Context, location Location, providers map[string]Provider, options Options) (*Store, error) {
	provider, ok := providers[location.Scheme]
	if !ok {
		return nil, wrong("this program was built without stores of the kind %s", location.Scheme)
	}
	if err := location.Check(); err != nil {
		return nil, err
	}
	bucket, err := provider(ctx, location)
	if err != nil {
		if errors.Is(err, ErrLocation) {
			return nil, err
		}
		return nil, New(nil, location, options).explain("opening", "the store", err)
	}
	return New(bucket, location, options), nil
}

// New is an archive in a bucket.
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
		places: make(chan struct{}, maxRequests),
	}
}

// Archives are that of an installation, and those of namespaces that have another one.
type Archives struct {
	// Standard is the archive of all other namespaces; nil: they have none.
	Standard *Store
	// Own archives of namespaces, by their names; nil: it has none.
	Own map[string]*Store
}

// Of a namespace; nil: nothing of it is kept.
func (a Archives) Of(namespace string) *Store {
	if own, named := a.Own[namespace]; named {
		return own
	}
	return a.Standard
}

// Close gives back what the store's library holds.
func (s *Store) Close() error { return s.bucket.Close() }

// String is the archive's location as a person writes it.
func (s *Store) String() string { return s.name }

// Digest is the SHA-256 of bytes.
type Digest [sha256.Size]byte

// Sum is the digest of bytes.
func Sum(body []byte) Digest { return sha256.Sum256(body) }

const digestPrefix = "sha256:"

// String is sha256: and 64 hexadecimal digits.
func (d Digest) String() string { return digestPrefix + d.hex() }

func (d Digest) hex() string { return hex.EncodeToString(d[:]) }

// ParseDigest reads what String gives.
func ParseDigest(text string) (Digest, error) {
	var digest Digest
	digits, found := strings.CutPrefix(text, digestPrefix)
	if !found || len(digits) != hex.EncodedLen(len(digest)) || strings.ToLower(digits) != digits {
		return Digest{}, fmt.Errorf("%w: %.80q is no digest: write sha256: and 64 small hexadecimal digits", ErrRecord, text)
	}
	if _, err := hex.Decode(digest[:], []byte(digits)); err != nil {
		return Digest{}, fmt.Errorf("%w: %.80q is no digest: write sha256: and 64 small hexadecimal digits", ErrRecord, text)
	}
	return digest, nil
}

// MarshalText writes what String gives.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what ParseDigest reads.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	*d = parsed
	return err
}

const objectsPrefix = "objects/sha256/"

// key of the object that has these bytes.
func (d Digest) key() string {
	digits := d.hex()
	return objectsPrefix + digits[:2] + "/" + digits
}

// digestOfKey reads what key gives.
func digestOfKey(key string) (Digest, bool) {
	digits := key[strings.LastIndex(key, "/")+1:]
	digest, err := ParseDigest(digestPrefix + digits)
	return digest, err == nil && digest.key() == key
}

// Put stores bytes under their digest, if they are not there yet, and reads them back.
func (s *Store) Put(ctx context.Context, body []byte) (Digest, error) {
	return s.put(ctx, body, "application/octet-stream")
}

func (s *Store) put(ctx context.Context, body []byte, mediaType string) (Digest, error) {
	digest := Sum(body)
	return digest, s.keep(ctx, digest.key(), body, mediaType)
}

// Young is how old an object may be that is used again as it is. Older ones are written
// anew, with the same bytes, so that a collection of what nobody refers to, which is on
// at the same time, sees that somebody is about to.
const Young = time.Hour

// keep writes an object that never changes, and believes it is there when it has read
// it. One that is there with other bytes is left as it is.
func (s *Store) keep(ctx context.Context, key string, body []byte, mediaType string) error {
	if int64(len(body)) > s.options.MaxObject {
		return &Error{
			Is: ErrTooLarge, Store: s.name, Doing: "writing", Object: key,
			Why:    fmt.Sprintf("it has %d bytes, and an object of an archive at most %d", len(body), s.options.MaxObject),
			Advice: "keep it in parts",
		}
	}
	written := s.write(ctx, key, body, Writing{MediaType: mediaType})
	if written != nil && !errors.Is(written, ErrExists) {
		return written
	}
	found, object, err := s.read(ctx, key)
	if isAbsent(err) && written != nil {
		// Another one is writing it, or it was taken away between.
		return &Error{Is: ErrAway, Store: s.name, Doing: "writing", Object: key, Why: "it is being written by another operator", Advice: "PerfLab retries"}
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(found, body) {
		return s.mismatch(key, s.differs(found, body))
	}
	if written == nil || s.options.Clock().Sub(object.Modified) < Young {
		return nil
	}
	err = s.write(ctx, key, body, Writing{MediaType: mediaType, Replace: true})
	if errors.Is(err, ErrForbidden) {
		// Where nothing may be replaced nothing is collected, either.
		return nil
	}
	return err
}

func (s *Store) differs(found, wanted []byte) string {
	if len(found) != len(wanted) {
		return fmt.Sprintf("it has %d bytes where %d were written", len(found), len(wanted))
	}
	return "its bytes are not those that were written"
}

// Get gives the bytes that have this digest.
func (s *Store) Get(ctx context.Context, digest Digest) ([]byte, error) {
	body, _, err := s.read(ctx, digest.key())
	if err != nil {
		return nil, err
	}
	if Sum(body) != digest {
		return nil, s.mismatch(digest.key(), fmt.Sprintf("its bytes, %d of them, do not have the digest that it is named by", len(body)))
	}
	return body, nil
}

// read gives a whole object, unless it is larger than any may be.
func (s *Store) read(ctx context.Context, key string) (body []byte, object Object, err error) {
	return s.peek(ctx, key, s.options.MaxObject, true)
}

// reading is what a read gives.
type reading struct {
	body   []byte
	object Object
}

// peek gives the first bytes of an object; if it has to be whole, ErrMismatch where
// there are more.
func (s *Store) peek(ctx context.Context, key string, most int64, whole bool) ([]byte, Object, error) {
	got, err := call(ctx, s, "reading", key, func(ctx context.Context) (reading, error) {
		body, object, err := s.bucket.Read(ctx, s.prefix+key, most)
		if err == nil && whole && object.Size > most {
			err = ErrMismatch
		}
		return reading{body, object}, err
	})
	return got.body, got.object, err
}

func (s *Store) write(ctx context.Context, key string, body []byte, how Writing) error {
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

// objects lists what begins with a prefix, a page at a time.
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

// call makes a request and explains what goes wrong. It ends in time also where the
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
	case s.places <- struct{}{}:
	case <-limited.Done():
		return none, s.ended(ctx, doing, object)
	}
	go func() {
		defer func() { <-s.places }()
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
			return none, s.ended(ctx, doing, object)
		}
		return none, s.explain(doing, object, got.err)
	case <-limited.Done():
		return none, s.ended(ctx, doing, object)
	}
}

// ended is what comes of a request that took too long, or that nobody waits for.
func (s *Store) ended(ctx context.Context, doing, object string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s %s in the archive %s: %w", doing, object, s.name, context.Canceled)
	}
	return s.explain(doing, object, context.DeadlineExceeded)
}
