// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Format is the format of this version's manifests.
const Format = "perflab.dev/evidence/v1"

// Key of a manifest in its ConfigMap. The SHA-256 of the text there is the
// manifest's digest.
const Key = "manifest.json"

// MaxBytes limits a manifest so that it fits into a ConfigMap: some 6,000 runs.
const MaxBytes = 900 << 10

var (
	// ErrManifest means that a manifest can't be read.
	ErrManifest = errors.New("the manifest can't be read")
	// ErrTooLarge means that a manifest does not fit into a ConfigMap.
	ErrTooLarge = errors.New("the manifest of all runs' digests exceeds the maximum size of a ConfigMap")
)

// Manifest has the digests of an experiment's records.
type Manifest struct {
	Format string `json:"format"`
	// Experiment that was measured, even if its record was imported elsewhere.
	Experiment Identity `json:"experiment"`
	Stage
	// Previous is the digest of the previous manifest.
	Previous string `json:"previous,omitempty"`
	// Forms are the schemas of the digests. There are several if the operator was
	// upgraded between two blocks.
	Forms []Schema `json:"forms"`
	Plan  Link     `json:"plan"`
	// Runs in the order of their addition to the manifest, and then by name.
	Runs []RunLink `json:"runs"`
	// Answer is the link of the result, once the experiment has ended.
	Answer *Link `json:"answer,omitempty"`
	// History is the digest of the ConfigMap with the measurements for later
	// comparisons and the result of this one's comparison; empty: there was none.
	History string `json:"history,omitempty"`
}

// Identity of an experiment.
type Identity struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// String is NAMESPACE/NAME, and the UID if it is known.
func (i Identity) String() string {
	if i.UID == "" {
		return i.Namespace + "/" + i.Name
	}
	return i.Namespace + "/" + i.Name + " with UID " + i.UID
}

// Stage is the progress of the experiment.
type Stage struct {
	// Blocks is the number of complete blocks, whose runs are covered.
	Blocks int32 `json:"blocks"`
	// Ended means that all runs are covered.
	Ended bool `json:"ended"`
}

// covers reports whether a manifest of the stage must have the run.
func (s Stage) covers(run *v1alpha1.PerfRun) bool {
	return run.Status.Phase.IsFinal() && (s.Ended || run.Spec.Block <= s.Blocks)
}

// Link is a digest of the fields of a schema, which is numbered from 0.
type Link struct {
	Form   int    `json:"form"`
	SHA256 string `json:"sha256"`
}

// RunLink is the digest of a run's record.
type RunLink struct {
	Name string `json:"name"`
	Link
}

func newIdentity(experiment *v1alpha1.PerfExperiment) Identity {
	measured := provenance.OriginOf(experiment)
	return Identity{Namespace: measured.Namespace, Name: measured.Name, UID: string(measured.UID)}
}

// NextManifest returns the text of the manifest of a stage. Runs in the previous manifest
// keep their digests, so that a later stage does not hide changes in between. previous
// is empty for the first manifest. history is the digest of the history ConfigMap; empty
// if there is none.
func NextManifest(previous string, experiment *v1alpha1.PerfExperiment, runs []v1alpha1.PerfRun, stage Stage, history string) (text string, err error) {
	next := &Manifest{Format: Format, Experiment: newIdentity(experiment), Stage: stage, History: history}
	if previous != "" {
		before, err := Parse(previous)
		if err != nil {
			return "", err
		}
		next.Previous, next.Forms, next.Runs = Sum([]byte(previous)), before.Forms, before.Runs
	}
	own, fields := next.ownSchema()
	if err := next.addRuns(runs, own, fields); err != nil {
		return "", err
	}
	sum, err := fields.planDigest(experiment)
	if err != nil {
		return "", err
	}
	next.Plan = Link{own, sum}
	if stage.Ended {
		if sum, err = fields.resultDigest(&experiment.Status); err != nil {
			return "", err
		}
		next.Answer = &Link{own, sum}
	}
	encoded, err := canonical(next)
	if len(encoded) > MaxBytes {
		return "", fmt.Errorf("%w: %d bytes for %d runs", ErrTooLarge, len(encoded), len(next.Runs))
	}
	return string(encoded), err
}

// ownSchema returns the number of this version's schema, which is added if necessary.
func (m *Manifest) ownSchema() (number int, own Schema) {
	own = OwnSchema()
	number = slices.IndexFunc(m.Forms, own.equal)
	if number < 0 {
		number, m.Forms = len(m.Forms), append(m.Forms, own)
	}
	return number, own
}

func (m *Manifest) addRuns(runs []v1alpha1.PerfRun, number int, fields Schema) error {
	known := m.links()
	var added []RunLink
	for i := range runs {
		run := &runs[i]
		if _, covered := known[run.Name]; covered || !m.covers(run) {
			continue
		}
		sum, err := fields.runDigest(run)
		if err != nil {
			return fmt.Errorf("run %q: %w", run.Name, err)
		}
		added = append(added, RunLink{run.Name, Link{number, sum}})
	}
	slices.SortFunc(added, func(a, b RunLink) int { return cmp.Compare(a.Name, b.Name) })
	m.Runs = append(m.Runs, added...)
	return nil
}

// links returns the links of the runs, by name.
func (m *Manifest) links() map[string]Link {
	found := map[string]Link{}
	for _, run := range m.Runs {
		found[run.Name] = run.Link
	}
	return found
}

// Parse reads the text of a manifest. Its errors are ErrManifest.
func Parse(text string) (*Manifest, error) {
	read := &Manifest{}
	if err := json.Unmarshal([]byte(text), read); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if read.Format != Format {
		return nil, fmt.Errorf("%w: its format is %q, but this version supports %q: use a newer version", ErrManifest, read.Format, Format)
	}
	if unknown := read.unknownField(); unknown != "" {
		return nil, fmt.Errorf("%w: it covers the field %s, which this version does not support: use a newer version", ErrManifest, unknown)
	}
	links := []Link{read.Plan}
	for _, run := range read.Runs {
		links = append(links, run.Link)
	}
	if read.Answer != nil {
		links = append(links, *read.Answer)
	}
	for _, link := range links {
		if link.Form < 0 || link.Form >= len(read.Forms) {
			return nil, fmt.Errorf("%w: it has no form %d", ErrManifest, link.Form)
		}
	}
	return read, nil
}

// unknownField returns a field that this version can't read; empty if there is none.
func (m *Manifest) unknownField() string {
	known := knownForm()
	for _, form := range m.Forms {
		if unknown := form.unknownFields(known); unknown != "" {
			return unknown
		}
	}
	return ""
}
