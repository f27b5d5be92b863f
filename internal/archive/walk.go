// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Kept is a record that is in an archive, without its items.
type Kept struct {
	Reference Reference
	Manifest  *Manifest
	// Modified is when the store was last given the reference, as it says.
	Modified time.Time
}

// Compare is positive where the record stands before another one of the same thing: it
// ended later, or was kept later. Records that were kept before they were counted are
// told by what the store says.
func (k Kept) Compare(other Kept) int {
	return cmp.Or(
		k.Manifest.At.Compare(other.Manifest.At), cmp.Compare(k.Manifest.Sequence, other.Manifest.Sequence),
		k.Modified.Compare(other.Modified), cmp.Compare(k.Reference.String(), other.Reference.String()),
	)
}

// Walk gives what is kept, by the references that begin with a prefix. A record that
// can't be read comes as an error, with its reference, and the next one after it; who
// does not want to go on ends the loop.
func (s *Store) Walk(ctx context.Context, prefix string) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		read := func(ctx context.Context, kept Kept) (Kept, error) {
			var err error
			kept.Manifest, err = s.Manifest(ctx, kept.Reference)
			return kept, err
		}
		for kept, err := range InParallel(ctx, s.references(ctx, prefix), read) {
			if !yield(kept, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// Groups gives the records of each experiment, or run, whose references begin with a
// prefix. A record that can't be read ends it: which one stands is not known.
func (s *Store) Groups(ctx context.Context, prefix string) iter.Seq2[[]Kept, error] {
	return grouped(s.Walk(ctx, prefix), func(a, b Reference) bool { return a.prefix() == b.prefix() })
}

// Standing gives of each of them the record that stands.
func (s *Store) Standing(ctx context.Context, prefix string) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		for group, err := range s.Groups(ctx, prefix) {
			var last Kept
			if err == nil {
				last = slices.MaxFunc(group, Kept.Compare)
			}
			if !yield(last, err) {
				return
			}
		}
	}
}

// Last is the record that stands of what was kept last of all whose references begin with a
// prefix; nil: there is none.
func (s *Store) Last(ctx context.Context, prefix string) (*Kept, error) {
	var last *Kept
	for kept, err := range s.Standing(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if last == nil || kept.Compare(*last) > 0 {
			last = &kept
		}
	}
	return last, nil
}

// grouped joins records that are listed one after the other.
func grouped(records iter.Seq2[Kept, error], isBeside func(a, b Reference) bool) iter.Seq2[[]Kept, error] {
	return func(yield func([]Kept, error) bool) {
		var group []Kept
		for kept, err := range records {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(group) > 0 && !isBeside(group[0].Reference, kept.Reference) {
				if !yield(group, nil) {
					return
				}
				group = nil
			}
			group = append(group, kept)
		}
		if len(group) > 0 {
			yield(group, nil)
		}
	}
}

// WalkObjects gives what was kept by the objects alone, where references are lost: all
// manifests, also of records that never were kept to the end. It reads the beginning of
// each object.
func (s *Store) WalkObjects(ctx context.Context) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		read := func(ctx context.Context, object Object) (*Kept, error) {
			digest, ok := digestOfKey(object.Key)
			if !ok || object.Size > maxManifest {
				return nil, nil
			}
			kept, err := s.manifestIn(ctx, digest)
			if err != nil {
				kept = &Kept{Reference: Reference{Manifest: digest}}
			}
			return kept, err
		}
		for kept, err := range InParallel(ctx, s.objects(ctx, objectsPrefix), read) {
			if kept == nil && err == nil {
				continue
			}
			if kept == nil {
				kept = &Kept{}
			}
			if !yield(*kept, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// manifestIn an object; nil: it is none.
func (s *Store) manifestIn(ctx context.Context, digest Digest) (*Kept, error) {
	head, _, err := s.peek(ctx, digest.key(), int64(len(opening)), false)
	if err != nil || string(head) != opening {
		return nil, err
	}
	text, err := s.Get(ctx, digest)
	if err != nil {
		return nil, err
	}
	manifest, err := ParseManifest(text)
	if err != nil {
		// Somebody's bytes that begin alike, or a later version's.
		return nil, nil
	}
	return &Kept{Reference: manifest.Reference(digest), Manifest: manifest}, nil
}

// Restore writes the reference to a record that has lost it, once all that it consists
// of was read, and what leads to it from its series.
func (s *Store) Restore(ctx context.Context, reference Reference) error {
	manifest, err := s.manifest(ctx, reference)
	if err != nil {
		return err
	}
	for _, entry := range manifest.Items {
		if _, err := s.Item(ctx, entry); err != nil {
			return fmt.Errorf("reading the %s %q: %w", entry.Kind, entry.Name, err)
		}
	}
	if err := s.keep(ctx, reference.String(), reference.content(), "text/plain"); err != nil {
		return err
	}
	return s.index(ctx, manifest)
}
