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

// StoredRecord is a record in an archive, without its items.
type StoredRecord struct {
	Reference Reference
	Manifest  *Manifest
	// Modified is when the store last wrote the reference.
	Modified time.Time
}

// Compare is positive if the record is newer than another one of the same run or experiment:
// it ended later, has a higher sequence number or, without numbers, was written later.
func (k StoredRecord) Compare(other StoredRecord) int {
	return cmp.Or(
		k.Manifest.At.Compare(other.Manifest.At), cmp.Compare(k.Manifest.Sequence, other.Manifest.Sequence),
		k.Modified.Compare(other.Modified), cmp.Compare(k.Reference.String(), other.Reference.String()),
	)
}

// Walk returns the records whose references start with a prefix. An unreadable record is
// returned as an error with its reference, and the walk continues.
func (s *Store) Walk(ctx context.Context, prefix string) iter.Seq2[StoredRecord, error] {
	return func(yield func(StoredRecord, error) bool) {
		read := func(ctx context.Context, kept StoredRecord) (StoredRecord, error) {
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

// Groups returns the records of each experiment or run with a prefix. An unreadable record
// ends the walk, because it may be the current one.
func (s *Store) Groups(ctx context.Context, prefix string) iter.Seq2[[]StoredRecord, error] {
	return groupRecords(s.Walk(ctx, prefix), func(a, b Reference) bool { return a.prefix() == b.prefix() })
}

// Current returns the current record of each group.
func (s *Store) Current(ctx context.Context, prefix string) iter.Seq2[StoredRecord, error] {
	return func(yield func(StoredRecord, error) bool) {
		for group, err := range s.Groups(ctx, prefix) {
			var last StoredRecord
			if err == nil {
				last = slices.MaxFunc(group, StoredRecord.Compare)
			}
			if !yield(last, err) {
				return
			}
		}
	}
}

// Latest returns the current record that ended last of all with a prefix, or nil.
func (s *Store) Latest(ctx context.Context, prefix string) (*StoredRecord, error) {
	var last *StoredRecord
	for kept, err := range s.Current(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if last == nil || kept.Compare(*last) > 0 {
			last = &kept
		}
	}
	return last, nil
}

// groupRecords joins adjacent records of the same group.
func groupRecords(records iter.Seq2[StoredRecord, error], isBeside func(a, b Reference) bool) iter.Seq2[[]StoredRecord, error] {
	return func(yield func([]StoredRecord, error) bool) {
		var group []StoredRecord
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

// WalkObjects finds records without their references: all manifests, also those of records
// that were never completed. It reads the beginning of each object.
func (s *Store) WalkObjects(ctx context.Context) iter.Seq2[StoredRecord, error] {
	return func(yield func(StoredRecord, error) bool) {
		read := func(ctx context.Context, object Object) (*StoredRecord, error) {
			digest, ok := parseObjectKey(object.Key)
			if !ok || object.Size > maxManifest {
				return nil, nil
			}
			kept, err := s.manifestIn(ctx, digest)
			if err != nil {
				kept = &StoredRecord{Reference: Reference{Manifest: digest}}
			}
			return kept, err
		}
		for kept, err := range InParallel(ctx, s.objects(ctx, objectsPrefix), read) {
			if kept == nil && err == nil {
				continue
			}
			if kept == nil {
				kept = &StoredRecord{}
			}
			if !yield(*kept, err) || ctx.Err() != nil {
				return
			}
		}
	}
}

// manifestIn returns the manifest in an object, or nil.
func (s *Store) manifestIn(ctx context.Context, digest Digest) (*StoredRecord, error) {
	head, _, err := s.readPrefix(ctx, digest.key(), int64(len(manifestPrefix)), false)
	if err != nil || string(head) != manifestPrefix {
		return nil, err
	}
	text, err := s.Get(ctx, digest)
	if err != nil {
		return nil, err
	}
	manifest, err := ParseManifest(text)
	if err != nil {
		// Other content that starts like a manifest, or a later version.
		return nil, nil
	}
	return &StoredRecord{Reference: manifest.Reference(digest), Manifest: manifest}, nil
}

// Restore rewrites a lost reference and the points of its record, after reading all of the
// record.
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
	if err := s.writeOnce(ctx, reference.String(), reference.content(), "text/plain"); err != nil {
		return err
	}
	return s.index(ctx, manifest)
}
