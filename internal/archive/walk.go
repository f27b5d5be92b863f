// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"context"
	"fmt"
	"iter"
)

// Kept is a record that is in an archive, without its items.
type Kept struct {
	Reference Reference
	Manifest  *Manifest
}

// Walk gives what is kept, by the references that begin with a prefix. A record that
// can't be read comes as an error, with its reference, and the next one after it; who
// does not want to go on ends the loop.
func (s *Store) Walk(ctx context.Context, prefix string) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		for reference, err := range s.List(ctx, prefix) {
			if err != nil {
				yield(Kept{}, err)
				return
			}
			manifest, err := s.Manifest(ctx, reference)
			if !yield(Kept{Reference: reference, Manifest: manifest}, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// WalkObjects gives what was kept by the objects alone, where references are lost: all
// manifests, also of records that never were kept to the end. It reads the beginning of
// each object.
func (s *Store) WalkObjects(ctx context.Context) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		for object, err := range s.objects(ctx, objectsPrefix) {
			if err != nil {
				yield(Kept{}, err)
				return
			}
			digest, ok := digestOfKey(object.Key)
			if !ok || object.Size > maxManifest {
				continue
			}
			kept, err := s.manifestIn(ctx, digest)
			if kept == nil && err == nil {
				continue
			}
			if err != nil {
				kept = &Kept{Reference: Reference{Manifest: digest}}
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
// of was read.
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
	return s.keep(ctx, reference.String(), reference.content(), "text/plain")
}
