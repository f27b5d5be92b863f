// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"context"
	"fmt"
	"iter"
)

// Keep stores a record: its items, then its manifest, then the reference that makes it
// kept, and last what leads to it from its series. It can end anywhere and be done again,
// by anybody: what was written stays and is used. What the reference leads to was read
// back before it was written.
//
// Of a record that rests on runs the references of those have to be there. An
// experiment's record that differs from the one that stands is kept as the next one.
func (s *Store) Keep(ctx context.Context, record Record) (Reference, error) {
	if err := record.check(); err != nil {
		return Reference{}, err
	}
	manifest := record.manifest()
	if err := s.follow(ctx, manifest); err != nil {
		return Reference{}, err
	}
	text, err := manifest.encode()
	if err != nil {
		return Reference{}, err
	}
	if len(text) > maxManifest {
		return Reference{}, badRecord("its manifest has %d bytes, and %d at most: give fewer items", len(text), maxManifest)
	}
	for _, item := range record.Items {
		if _, err := s.put(ctx, item.Bytes, item.MediaType); err != nil {
			return Reference{}, fmt.Errorf("keeping the %s %q: %w", item.Kind, item.Name, err)
		}
	}
	digest, err := s.put(ctx, text, "application/json")
	if err != nil {
		return Reference{}, fmt.Errorf("keeping the manifest: %w", err)
	}
	if err := s.findAll(ctx, manifest.Runs); err != nil {
		return Reference{}, err
	}
	reference := manifest.Reference(digest)
	if err := s.keep(ctx, reference.String(), reference.content(), "text/plain"); err != nil {
		return reference, err
	}
	return reference, s.index(ctx, manifest)
}

// follow gives an experiment's record its number: that of the one which stands if it is
// the same, or the next.
func (s *Store) follow(ctx context.Context, manifest *Manifest) error {
	if manifest.Identity.Run != "" {
		return nil
	}
	last, err := s.Last(ctx, manifest.Identity.Prefix())
	if err != nil || last == nil {
		return err
	}
	manifest.Sequence = last.Manifest.Sequence
	text, err := manifest.encode()
	if err != nil {
		return err
	}
	if Sum(text) != last.Reference.Manifest {
		manifest.Sequence++
	}
	return nil
}

// findAll looks for references that a record rests on, in lists: an experiment has
// hundreds of runs.
func (s *Store) findAll(ctx context.Context, runs []Reference) error {
	missing := map[Reference]bool{}
	groups := map[string]bool{}
	for _, run := range runs {
		missing[run] = true
		groups[run.group()] = true
	}
	for _, run := range runs {
		if !groups[run.group()] {
			continue
		}
		delete(groups, run.group())
		for found, err := range s.List(ctx, run.group()) {
			if err != nil {
				return err
			}
			delete(missing, found)
		}
	}
	for _, run := range runs {
		if missing[run] {
			return &Error{Is: ErrNotFound, Store: s.name, Doing: "reading", Object: run.String(), Why: "it is not there, and the record to be kept rests on it", Advice: "keep the run first"}
		}
	}
	return nil
}

// group is the prefix of the references of all runs of an experiment.
func (r Reference) group() string {
	return RunsPrefix + r.Namespace + "/" + r.Experiment + "/" + r.ExperimentUID + "/"
}

// IsKept reports whether a reference reads. That there is no bucket is an error.
func (s *Store) IsKept(ctx context.Context, reference Reference) (bool, error) {
	err := s.readReference(ctx, reference)
	if isAbsent(err) {
		return false, nil
	}
	return err == nil, err
}

func (s *Store) readReference(ctx context.Context, reference Reference) error {
	body, _, err := s.read(ctx, reference.String())
	if err != nil {
		return err
	}
	if !bytes.Equal(body, reference.content()) {
		return s.mismatch(reference.String(), "it does not hold the digest that is in its name")
	}
	return nil
}

// Manifest reads what a record consists of.
func (s *Store) Manifest(ctx context.Context, reference Reference) (*Manifest, error) {
	if err := s.readReference(ctx, reference); err != nil {
		return nil, err
	}
	return s.manifest(ctx, reference)
}

func (s *Store) manifest(ctx context.Context, reference Reference) (*Manifest, error) {
	text, err := s.Get(ctx, reference.Manifest)
	if err != nil {
		return nil, err
	}
	manifest, err := ParseManifest(text)
	if err != nil {
		return nil, &Error{
			Is: ErrUnknown, Store: s.name, Doing: "reading", Object: reference.Manifest.key(), Why: "it is not a manifest that this version knows",
			Advice: "read it with the version of PerfLab that wrote it, or a later one", says: err,
		}
	}
	if manifest.Reference(reference.Manifest) != reference {
		return nil, s.mismatch(reference.Manifest.key(), "it is the manifest of another record than "+reference.prefix())
	}
	return manifest, nil
}

// Item reads an item that a manifest lists.
func (s *Store) Item(ctx context.Context, entry Entry) ([]byte, error) {
	body, err := s.Get(ctx, entry.Digest)
	if err != nil {
		return nil, err
	}
	if int64(len(body)) != entry.Size {
		return nil, s.mismatch(entry.Digest.key(), fmt.Sprintf("it has %d bytes where its manifest says %d", len(body), entry.Size))
	}
	return body, nil
}

// Load gives back a record, each byte of which was checked. It is all in memory: where
// that is too much, read the Manifest and one Item after the other.
func (s *Store) Load(ctx context.Context, reference Reference) (Record, error) {
	manifest, err := s.Manifest(ctx, reference)
	if err != nil {
		return Record{}, err
	}
	record := Record{Identity: manifest.Identity, At: manifest.At, Runs: manifest.Runs}
	for _, entry := range manifest.Items {
		body, err := s.Item(ctx, entry)
		if err != nil {
			return Record{}, fmt.Errorf("reading the %s %q: %w", entry.Kind, entry.Name, err)
		}
		record.Items = append(record.Items, Item{Kind: entry.Kind, Name: entry.Name, MediaType: entry.MediaType, Bytes: body})
	}
	return record, nil
}

// List gives the references whose names begin with a prefix, in the order of their
// names, a page of them at a time. What is no reference is passed over.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Reference, error] {
	return func(yield func(Reference, error) bool) {
		for kept, err := range s.references(ctx, prefix) {
			if !yield(kept.Reference, err) {
				return
			}
		}
	}
}

// references as List gives them, with what the store says of them.
func (s *Store) references(ctx context.Context, prefix string) iter.Seq2[Kept, error] {
	return func(yield func(Kept, error) bool) {
		for object, err := range s.objects(ctx, prefix) {
			if err != nil {
				yield(Kept{}, err)
				return
			}
			reference, err := ParseReference(object.Key)
			if err == nil && !yield(Kept{Reference: reference, Modified: object.Modified}, nil) {
				return
			}
		}
	}
}

// Runs gives the references to the runs of an experiment.
func (s *Store) Runs(ctx context.Context, of Identity) iter.Seq2[Reference, error] {
	return s.List(ctx, of.reference(Digest{}).group())
}

// Find gives the references to records of a run or of an experiment: none, one, or one
// for each time that it was kept with other contents.
func (s *Store) Find(ctx context.Context, identity Identity) iter.Seq2[Reference, error] {
	return s.List(ctx, identity.Prefix())
}
