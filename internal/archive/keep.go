// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"context"
	"fmt"
	"iter"
)

// Keep stores a record: its items, its manifest, the reference that makes it part of the
// archive, and its points in the index of series. It can be interrupted and repeated by any
// caller: what was written is used again. Everything that the reference leads to is read back
// before the reference is written.
//
// The runs that a record refers to must be stored. A changed record of an experiment gets the
// next sequence number.
func (s *Store) Keep(ctx context.Context, record Record) (Reference, error) {
	if err := record.check(); err != nil {
		return Reference{}, err
	}
	manifest := record.manifest()
	if err := s.setSequence(ctx, manifest); err != nil {
		return Reference{}, err
	}
	text, err := manifest.encode()
	if err != nil {
		return Reference{}, err
	}
	if len(text) > maxManifest {
		return Reference{}, badRecord("its manifest has %d bytes, but at most %d are allowed: use fewer items", len(text), maxManifest)
	}
	for _, item := range record.Items {
		if _, err := s.put(ctx, item.Bytes, item.MediaType); err != nil {
			return Reference{}, fmt.Errorf("storing the %s %q: %w", item.Kind, item.Name, err)
		}
	}
	digest, err := s.put(ctx, text, "application/json")
	if err != nil {
		return Reference{}, fmt.Errorf("storing the manifest: %w", err)
	}
	if err := s.checkReferences(ctx, manifest.Runs); err != nil {
		return Reference{}, err
	}
	reference := manifest.Reference(digest)
	if err := s.writeOnce(ctx, reference.String(), reference.content(), "text/plain"); err != nil {
		return reference, err
	}
	return reference, s.index(ctx, manifest)
}

// setSequence sets the number of an experiment's record: that of the current record if they
// are equal, or the next.
func (s *Store) setSequence(ctx context.Context, manifest *Manifest) error {
	if manifest.Identity.Run != "" {
		return nil
	}
	last, err := s.Latest(ctx, manifest.Identity.Prefix())
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

// checkReferences lists references instead of reading them: an experiment has hundreds of
// runs.
func (s *Store) checkReferences(ctx context.Context, runs []Reference) error {
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
			return &Error{Kind: ErrNotFound, Store: s.name, Operation: "reading", Object: run.String(), Reason: "it does not exist, but the record refers to it", Advice: "archive the run first"}
		}
	}
	return nil
}

// group is the prefix of the references of all runs of an experiment.
func (r Reference) group() string {
	return RunsPrefix + r.Namespace + "/" + r.Experiment + "/" + r.ExperimentUID + "/"
}

// Exists reports whether a reference is readable. A missing bucket is an error.
func (s *Store) Exists(ctx context.Context, reference Reference) (bool, error) {
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
		return s.mismatch(reference.String(), "it does not contain the digest in its name")
	}
	return nil
}

// Manifest reads the manifest of a record.
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
			Kind: ErrUnknownManifest, Store: s.name, Operation: "reading", Object: reference.Manifest.key(), Reason: "it is not a manifest that this version can read",
			Advice: "read it with the version of PerfLab that wrote it, or a later one", cause: err,
		}
	}
	if manifest.Reference(reference.Manifest) != reference {
		return nil, s.mismatch(reference.Manifest.key(), "it is not the manifest of "+reference.prefix())
	}
	return manifest, nil
}

// Item reads an item of a manifest.
func (s *Store) Item(ctx context.Context, entry Entry) ([]byte, error) {
	body, err := s.Get(ctx, entry.Digest)
	if err != nil {
		return nil, err
	}
	if int64(len(body)) != entry.Size {
		return nil, s.mismatch(entry.Digest.key(), fmt.Sprintf("it has %d bytes, but its manifest specifies %d", len(body), entry.Size))
	}
	return body, nil
}

// Load reads a record into memory and verifies each byte. For large records, read the Manifest
// and the items one after the other.
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

// List returns the references whose names start with a prefix, sorted by name. Objects that
// are no references are skipped.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[Reference, error] {
	return func(yield func(Reference, error) bool) {
		for kept, err := range s.references(ctx, prefix) {
			if !yield(kept.Reference, err) {
				return
			}
		}
	}
}

// references returns the references like List, with their metadata.
func (s *Store) references(ctx context.Context, prefix string) iter.Seq2[StoredRecord, error] {
	return func(yield func(StoredRecord, error) bool) {
		for object, err := range s.objects(ctx, prefix) {
			if err != nil {
				yield(StoredRecord{}, err)
				return
			}
			reference, err := ParseReference(object.Key)
			if err == nil && !yield(StoredRecord{Reference: reference, Modified: object.Modified}, nil) {
				return
			}
		}
	}
}

// Runs returns the references to the runs of an experiment.
func (s *Store) Runs(ctx context.Context, of Identity) iter.Seq2[Reference, error] {
	return s.List(ctx, of.reference(Digest{}).group())
}

// Find returns the references to the records of a run or an experiment: one for each version
// of its contents.
func (s *Store) Find(ctx context.Context, identity Identity) iter.Seq2[Reference, error] {
	return s.List(ctx, identity.Prefix())
}
