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

// Format names what a manifest of this version is.
const Format = "perflab.dev/evidence/v1"

// Key is where a manifest is in its ConfigMap. The SHA-256 of the text there is
// the manifest's digest.
const Key = "manifest.json"

// MaxBytes of a manifest fit into a ConfigMap: some 6,000 runs.
const MaxBytes = 900 << 10

var (
	// ErrManifest means that a manifest can't be read.
	ErrManifest = errors.New("the manifest can't be read")
	// ErrTooLarge means that a manifest fits into no ConfigMap.
	ErrTooLarge = errors.New("the manifest of all runs' digests is larger than a ConfigMap may be")
)

// Manifest holds the digests of what an experiment recorded.
type Manifest struct {
	Format string `json:"format"`
	// Experiment is the one that was measured, wherever its record is now.
	Experiment Identity `json:"experiment"`
	Stage
	// Previous is the digest of the manifest before this one.
	Previous string `json:"previous,omitempty"`
	// Forms are the fields that are digested. There are several where the operator
	// was exchanged between two blocks.
	Forms []Schema `json:"forms"`
	Plan  Link     `json:"plan"`
	// Runs are sorted as they came into the manifest, and then by name.
	Runs []RunLink `json:"runs"`
	// Answer is there once the experiment has ended.
	Answer *Link `json:"answer,omitempty"`
	// History is the digest of the ConfigMap with what later experiments are compared
	// with, and what came out when this one was compared; empty: none was kept.
	History string `json:"history,omitempty"`
}

// Identity of an experiment.
type Identity struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
}

// String is NAMESPACE/NAME, and the UID where it is known.
func (i Identity) String() string {
	if i.UID == "" {
		return i.Namespace + "/" + i.Name
	}
	return i.Namespace + "/" + i.Name + " with UID " + i.UID
}

// Stage is how far the experiment was.
type Stage struct {
	// Blocks that were complete: their runs are covered.
	Blocks int32 `json:"blocks"`
	// Ended: all runs are covered.
	Ended bool `json:"ended"`
}

// covers reports whether a run has to be in a manifest of the stage.
func (s Stage) covers(run *v1alpha1.PerfRun) bool {
	return run.Status.Phase.IsFinal() && (s.Ended || run.Spec.Block <= s.Blocks)
}

// Link is a digest of the fields of a form, which is numbered from 0.
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

// NextManifest is the text of the manifest of a stage. Runs that the previous one covers
// keep the digest they had, so that a later stage does not cover up what was
// changed meanwhile. The first one follows none: an empty text. History is the digest
// of what is kept for histories; empty: nothing is.
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

// ownSchema is the number of this version's form, which is added if need be.
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

// links are those of the runs, by name.
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
		return nil, fmt.Errorf("%w: its format is %q, this perflab knows %q: take a newer one", ErrManifest, read.Format, Format)
	}
	if unknown := read.unknownField(); unknown != "" {
		return nil, fmt.Errorf("%w: it covers the field %s, which this perflab does not know: take a newer one", ErrManifest, unknown)
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

// unknownField is one that this version can't read; empty: there is none.
func (m *Manifest) unknownField() string {
	known := knownForm()
	for _, form := range m.Forms {
		if unknown := form.unknownFields(known); unknown != "" {
			return unknown
		}
	}
	return ""
}
