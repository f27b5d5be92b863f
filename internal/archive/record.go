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

// opening is how each manifest begins: its fields are in the order of their names.
const opening = `{"archive":"`

const (
	maxItems = 4096
	// maxReferences is more than the runs that an experiment can have.
	maxReferences = 20000
	maxManifest   = 8 << 20
	maxName       = 253
)

// Identity says what is recorded: a run, or an experiment where Run is empty.
type Identity struct {
	Namespace     string `json:"namespace"`
	Experiment    string `json:"experiment"`
	ExperimentUID string `json:"experimentUID"`
	Run           string `json:"run,omitempty"`
	RunUID        string `json:"runUID,omitempty"`
	Attempt       int32  `json:"attempt,omitempty"`
}

// Item is a part of a record: bytes with a name.
type Item struct {
	// Kind of what it is: PerfRun, ConfigMap, Plan, Report.
	Kind string
	Name string
	// MediaType as it is told to who downloads it.
	MediaType string
	Bytes     []byte
}

// Record is what is kept of a run or of an experiment, and is read as one.
type Record struct {
	Identity Identity
	// At is when what is recorded ended. Of two records of one thing the later stands,
	// of an experiment's with the same time the one that was kept last, and retention
	// goes by it. It is a part of the record: take it from there, and not
	// from the clock, or each try makes another record.
	At time.Time
	// Items have no kind and name twice.
	Items []Item
	// Runs that an experiment's record rests on: none of them is collected while the
	// record stands. A run's has none.
	Runs []Reference
	// Place in series; nil: it has none.
	Place *Place
}

// Manifest is what is written of a record.
type Manifest struct {
	Version  string      `json:"archive"`
	At       time.Time   `json:"at"`
	Identity Identity    `json:"identity"`
	Items    []Entry     `json:"items"`
	Place    *Place      `json:"place,omitempty"`
	Runs     []Reference `json:"runs,omitempty"`
	// Sequence counts the records of an experiment: one that is kept beside another is
	// the next.
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

// Reference names a record that is kept. As a text it is what the cluster needs to
// keep: the name of the reference's object.
type Reference struct {
	Namespace, Experiment, ExperimentUID string
	// Run is empty for an experiment.
	Run string
	// Manifest is the digest of the record's manifest.
	Manifest Digest
}

const (
	// RunsPrefix is where the references of runs are.
	RunsPrefix = "runs/"
	// ExperimentsPrefix is where those of experiments are.
	ExperimentsPrefix = "experiments/"
	referencePrefix   = "sha256-"
)

// Prefix of the references of all records of what is identified, or of all experiments of
// a name, where there is no UID.
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

// prefix of all references to what this one refers to.
func (r Reference) prefix() string {
	return Identity{Namespace: r.Namespace, Experiment: r.Experiment, ExperimentUID: r.ExperimentUID, Run: r.Run}.Prefix()
}

// String is runs/NAMESPACE/EXPERIMENT/UID/RUN/sha256-..., or the same of an experiment.
func (r Reference) String() string { return r.prefix() + referencePrefix + r.Manifest.hex() }

// MarshalText writes what String gives.
func (r Reference) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what ParseReference reads.
func (r *Reference) UnmarshalText(text []byte) error {
	parsed, err := ParseReference(string(text))
	*r = parsed
	return err
}

// ParseReference reads what String gives.
func ParseReference(text string) (Reference, error) {
	bad := func() (Reference, error) {
		return Reference{}, fmt.Errorf("%w: %.300q is no reference: write one as perflab gives it, like runs/NAMESPACE/EXPERIMENT/UID/RUN/sha256-DIGEST", ErrRecord, text)
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

// check says what is wrong with a record before anything is written.
func (r *Record) check() error {
	if err := r.Identity.check(); err != nil {
		return err
	}
	if r.At.IsZero() {
		return badRecord("it does not say when it ended: give the time that is in the record")
	}
	if len(r.Items) == 0 || len(r.Items) > maxItems {
		return badRecord("it has %d items: give one to %d", len(r.Items), maxItems)
	}
	seen := map[[2]string]bool{}
	for _, item := range r.Items {
		name := [2]string{item.Kind, item.Name}
		if item.Kind == "" || item.Name == "" || len(item.Kind)+len(item.Name) > 2*maxName || len(item.MediaType) > maxName {
			return badRecord("an item has no kind or no name, or one that is too long: %.80q %.80q", item.Kind, item.Name)
		}
		if seen[name] {
			return badRecord("it has the %s %q twice: give it once", item.Kind, item.Name)
		}
		seen[name] = true
	}
	if err := checkRuns(r.Identity, r.Runs); err != nil {
		return err
	}
	return checkPlace(r.Identity, r.Place, r.manifest().Items)
}

func checkRuns(of Identity, runs []Reference) error {
	if len(runs) > 0 && of.Run != "" {
		return badRecord("a run rests on no other run: leave them out")
	}
	if len(runs) > maxReferences {
		return badRecord("it rests on %d runs: %d at most", len(runs), maxReferences)
	}
	for _, run := range runs {
		if _, err := ParseReference(run.String()); err != nil || run.Run == "" {
			return badRecord("it rests on %.300q, which is no reference to a run", run.String())
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
			return badRecord("%.80q is no name of a namespace, an experiment or a run, and no UID: give all of them", name)
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
	if r.Place != nil {
		result.Place = &Place{Series: slices.Sorted(slices.Values(r.Place.Series)), At: r.Place.At.UTC().Truncate(time.Second), Item: r.Place.Item}
		result.Place.Series = slices.Compact(result.Place.Series)
	}
	return result
}

// Reference to the manifest, given its digest.
func (m *Manifest) Reference(digest Digest) Reference { return m.Identity.reference(digest) }

// encode is the manifest canonicalized by RFC 8785.
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

// ParseManifest reads a manifest, and refuses what this version did not write so.
func ParseManifest(text []byte) (*Manifest, error) {
	if !bytes.HasPrefix(text, []byte(opening)) || len(text) > maxManifest {
		return nil, fmt.Errorf("%w: it does not begin as one, or is too long", ErrUnknown)
	}
	version := struct {
		Archive string `json:"archive"`
	}{}
	if err := json.Unmarshal(text, &version); err != nil || version.Archive != Version {
		return nil, fmt.Errorf("%w: its version is %.80q, and this one reads %q", ErrUnknown, version.Archive, Version)
	}
	result := &Manifest{}
	if err := json.Unmarshal(text, result); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	// A field that is not known here would be missing.
	if again, err := result.encode(); err != nil || !bytes.Equal(again, text) {
		return nil, fmt.Errorf("%w: it is not in the form that it is written in", ErrUnknown)
	}
	if err := result.Identity.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err := checkRuns(result.Identity, result.Runs); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err := checkPlace(result.Identity, result.Place, result.Items); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return result, nil
}

func badRecord(format string, values ...any) error {
	return fmt.Errorf("%w: %s", ErrRecord, fmt.Sprintf(format, values...))
}
