// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowebpki/jcs"
)

// Version of manifests.
const Version = "perflab.dev/archive/v1"

// manifestPrefix starts each manifest: its fields are sorted by name.
const manifestPrefix = `{"archive":"`

const (
	maxItems = 4096
	// maxReferences exceeds the runs of any experiment.
	maxReferences = 20000
	maxManifest   = 8 << 20
	maxName       = 253
)

// Identity of a run, or of an experiment if Run is empty.
type Identity struct {
	Namespace     string `json:"namespace"`
	Experiment    string `json:"experiment"`
	ExperimentUID string `json:"experimentUID"`
	Run           string `json:"run,omitempty"`
	RunUID        string `json:"runUID,omitempty"`
	Attempt       int32  `json:"attempt,omitempty"`
}

// Item is a named part of a record.
type Item struct {
	// Kind of the item: PerfRun, ConfigMap, Plan, Report.
	Kind string
	Name string
	// MediaType for downloads.
	MediaType string
	Bytes     []byte
}

// Record is the stored data of a run or an experiment.
type Record struct {
	Identity Identity
	// At is when the run or the experiment ended. The record with the later time is current;
	// with equal times, that with the higher sequence number. Retention uses the time as well.
	// Take it from the object and not from a clock, or each retry makes another record.
	At time.Time
	// Items are unique by kind and name.
	Items []Item
	// Runs that an experiment's record refers to: they are not collected before the record. A
	// run's record has none.
	Runs []Reference
	// SeriesEntry of the record, or nil.
	SeriesEntry *SeriesEntry
}

// Manifest is the stored form of a record.
type Manifest struct {
	Version     string       `json:"archive"`
	At          time.Time    `json:"at"`
	Identity    Identity     `json:"identity"`
	Items       []Entry      `json:"items"`
	SeriesEntry *SeriesEntry `json:"place,omitempty"`
	Runs        []Reference  `json:"runs,omitempty"`
	// Sequence counts the records of an experiment.
	Sequence int `json:"sequence,omitempty"`
}

// Entry is an item in a manifest.
type Entry struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	MediaType string `json:"mediaType,omitempty"`
	Digest    Digest `json:"digest"`
	Size      int64  `json:"size"`
}

// Reference names a stored record. Its text is the key of the reference's object, for the
// status of an object in the cluster.
type Reference struct {
	Namespace, Experiment, ExperimentUID string
	// Run is empty for an experiment.
	Run string
	// Manifest is the digest of the record's manifest.
	Manifest Digest
}

const (
	// RunsPrefix is the prefix of references to runs.
	RunsPrefix = "runs/"
	// ExperimentsPrefix is the prefix of references to experiments.
	ExperimentsPrefix = "experiments/"
	referencePrefix   = "sha256-"
)

// Prefix of the references to all records of the identity, or to all experiments of a name
// without a UID.
func (i Identity) Prefix() string {
	switch {
	case i.Run == "" && i.ExperimentUID == "":
		return ExperimentsPrefix + i.Namespace + "/" + i.Experiment + "/"
	case i.Run == "":
		return ExperimentsPrefix + i.Namespace + "/" + i.Experiment + "/" + i.ExperimentUID + "/"
	}
	return RunsPrefix + i.Namespace + "/" + i.Experiment + "/" + i.ExperimentUID + "/" + i.Run + "/"
}

func (i Identity) reference(manifest Digest) Reference {
	return Reference{Namespace: i.Namespace, Experiment: i.Experiment, ExperimentUID: i.ExperimentUID, Run: i.Run, Manifest: manifest}
}

// prefix of all references to the same run or experiment.
func (r Reference) prefix() string {
	return Identity{Namespace: r.Namespace, Experiment: r.Experiment, ExperimentUID: r.ExperimentUID, Run: r.Run}.Prefix()
}

// String is runs/NAMESPACE/EXPERIMENT/UID/RUN/sha256-..., or the same of an experiment.
func (r Reference) String() string { return r.prefix() + referencePrefix + r.Manifest.hex() }

// MarshalText implements encoding.TextMarshaler.
func (r Reference) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Reference) UnmarshalText(text []byte) error {
	parsed, err := ParseReference(string(text))
	*r = parsed
	return err
}

// ParseReference parses the output of String.
func ParseReference(text string) (Reference, error) {
	bad := func() (Reference, error) {
		return Reference{}, fmt.Errorf("%w: %.300q is not a reference: write one like runs/NAMESPACE/EXPERIMENT/UID/RUN/sha256-DIGEST", ErrInvalidRecord, text)
	}
	parts := strings.Split(text, "/")
	var result Reference
	switch {
	case len(parts) == 6 && parts[0]+"/" == RunsPrefix:
		result.Run = parts[4]
	case len(parts) == 5 && parts[0]+"/" == ExperimentsPrefix:
	default:
		return bad()
	}
	result.Namespace, result.Experiment, result.ExperimentUID = parts[1], parts[2], parts[3]
	if slices.ContainsFunc(parts, func(part string) bool { return !element.MatchString(part) }) {
		return bad()
	}
	digits, found := strings.CutPrefix(parts[len(parts)-1], referencePrefix)
	if !found {
		return bad()
	}
	var err error
	if result.Manifest, err = ParseDigest(digestPrefix + digits); err != nil {
		return bad()
	}
	return result, nil
}

// content of the reference's object.
func (r Reference) content() []byte { return []byte(r.Manifest.String() + "\n") }

// check validates a record before it is written.
func (r *Record) check() error {
	if err := r.Identity.check(); err != nil {
		return err
	}
	if r.At.IsZero() {
		return badRecord("it has no end time: set the time that the object records")
	}
	if len(r.Items) == 0 || len(r.Items) > maxItems {
		return badRecord("it has %d items: specify 1 to %d", len(r.Items), maxItems)
	}
	seen := map[[2]string]bool{}
	for _, item := range r.Items {
		name := [2]string{item.Kind, item.Name}
		if item.Kind == "" || item.Name == "" || len(item.Kind)+len(item.Name) > 2*maxName || len(item.MediaType) > maxName {
			return badRecord("an item has no kind or no name, or one that is too long: %.80q %.80q", item.Kind, item.Name)
		}
		if seen[name] {
			return badRecord("it has the %s %q twice: remove one", item.Kind, item.Name)
		}
		seen[name] = true
	}
	if err := checkRuns(r.Identity, r.Runs); err != nil {
		return err
	}
	return checkPlace(r.Identity, r.SeriesEntry, r.manifest().Items)
}

func checkRuns(of Identity, runs []Reference) error {
	if len(runs) > 0 && of.Run != "" {
		return badRecord("a run can't refer to other runs: remove them")
	}
	if len(runs) > maxReferences {
		return badRecord("it refers to %d runs, but at most %d are allowed", len(runs), maxReferences)
	}
	for _, run := range runs {
		if _, err := ParseReference(run.String()); err != nil || run.Run == "" {
			return badRecord("it refers to %.300q, which is not a reference to a run", run.String())
		}
	}
	return nil
}

func (i Identity) check() error {
	names := []string{i.Namespace, i.Experiment, i.ExperimentUID}
	if i.Run != "" {
		names = append(names, i.Run, i.RunUID)
	}
	for _, name := range names {
		if !element.MatchString(name) {
			return badRecord("%.80q is neither the name of a namespace, an experiment or a run, nor a UID: specify all of them", name)
		}
	}
	return nil
}

// manifest of a record.
func (r *Record) manifest() *Manifest {
	result := &Manifest{Version: Version, At: r.At.UTC().Truncate(time.Second), Identity: r.Identity, Runs: slices.Clone(r.Runs)}
	for _, item := range r.Items {
		result.Items = append(result.Items, Entry{Kind: item.Kind, Name: item.Name, MediaType: item.MediaType, Digest: Sum(item.Bytes), Size: int64(len(item.Bytes))})
	}
	slices.SortFunc(result.Items, func(a, b Entry) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	slices.SortFunc(result.Runs, func(a, b Reference) int { return cmp.Compare(a.String(), b.String()) })
	result.Runs = slices.Compact(result.Runs)
	if r.SeriesEntry != nil {
		result.SeriesEntry = &SeriesEntry{Series: slices.Sorted(slices.Values(r.SeriesEntry.Series)), At: r.SeriesEntry.At.UTC().Truncate(time.Second), Item: r.SeriesEntry.Item}
		result.SeriesEntry.Series = slices.Compact(result.SeriesEntry.Series)
	}
	return result
}

// Reference to the manifest, given its digest.
func (m *Manifest) Reference(digest Digest) Reference { return m.Identity.reference(digest) }

// encode returns the manifest in the canonical form of RFC 8785.
func (m *Manifest) encode() ([]byte, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encoding a manifest: %w", err)
	}
	if text, err = jcs.Transform(text); err != nil {
		return nil, fmt.Errorf("canonicalizing a manifest: %w", err)
	}
	return text, nil
}

// ParseManifest parses a manifest and rejects other forms than this version writes.
func ParseManifest(text []byte) (*Manifest, error) {
	if !bytes.HasPrefix(text, []byte(manifestPrefix)) || len(text) > maxManifest {
		return nil, fmt.Errorf("%w: it does not start like one, or is too long", ErrUnknownManifest)
	}
	version := struct {
		Archive string `json:"archive"`
	}{}
	if err := json.Unmarshal(text, &version); err != nil || version.Archive != Version {
		return nil, fmt.Errorf("%w: its version is %.80q, but this version reads %q", ErrUnknownManifest, version.Archive, Version)
	}
	result := &Manifest{}
	if err := json.Unmarshal(text, result); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownManifest, err)
	}
	// An unknown field would be missing.
	if again, err := result.encode(); err != nil || !bytes.Equal(again, text) {
		return nil, fmt.Errorf("%w: it is not in canonical form", ErrUnknownManifest)
	}
	if err := result.Identity.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownManifest, err)
	}
	if err := checkRuns(result.Identity, result.Runs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownManifest, err)
	}
	if err := checkPlace(result.Identity, result.SeriesEntry, result.Items); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknownManifest, err)
	}
	return result, nil
}

func badRecord(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalidRecord, fmt.Sprintf(format, values...))
}
