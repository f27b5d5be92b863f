// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// Bounds of notes: of a text, of a picture, and of all texts and pictures that a report
// shows.
const (
	MaxNoteBytes    = 64 << 10
	MaxPictureBytes = 512 << 10
	maxAllTexts     = 256 << 10
	maxAllPictures  = 2 << 20
)

// room is what is left of these for further notes.
type room struct{ texts, pictures int }

// noteSections are the sections that take notes, by what the API calls them.
var noteSections = map[v1alpha1.NoteSection]string{
	v1alpha1.NoteOverview:        "overview",
	v1alpha1.NoteSummary:         "summary",
	v1alpha1.NoteRecommendations: "recommendations",
	v1alpha1.NoteTestRuns:        "test-runs",
	v1alpha1.NoteResults:         "results",
	v1alpha1.NoteComparison:      "comparison",
	v1alpha1.NoteResources:       "resources",
	v1alpha1.NoteValidity:        "validity",
	v1alpha1.NoteNoiseFloor:      "noise-floor",
	v1alpha1.NoteMethodology:     "methodology",
	v1alpha1.NoteAppendix:        "appendix",
}

// note is a text that a person wrote for a section, as opposed to what was measured.
type note struct {
	name     string
	section  v1alpha1.NoteSection
	scenario string
	text     Markdown
	// fault says why the text is not shown; empty: it is.
	fault string
	// missing are the pictures that are not, and why.
	missing []string
}

func newNote(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap, left *room) *note {
	one := &note{name: declared.Name, section: declared.SectionOrDefault(), scenario: declared.Scenario}
	one.text.Name, one.text.Label = "note "+one.name, fmt.Sprintf("Note %s (written by a person, not measured)", one.name)
	if one.read(declared, kept, left); one.fault != "" {
		one.text.Excuse = fmt.Sprintf("It is left out: %s.", one.fault)
	}
	return one
}

// notesOf are all notes of an experiment but marks, in the order in which they are
// declared. What is wrong with one is told in its place, and costs nothing else.
func notesOf(input *Input) []*note {
	kept := map[string]*corev1.ConfigMap{}
	for i := range input.Notes {
		kept[input.Notes[i].Name] = &input.Notes[i]
	}
	left := room{maxAllTexts, maxAllPictures}
	var all []*note
	for i := range input.Experiment.Spec.Notes {
		if declared := &input.Experiment.Spec.Notes[i]; declared.At == nil {
			all = append(all, newNote(declared, kept, &left))
		}
	}
	return all
}

// read the note, as far as there is room. A text over which the library panics costs the
// note, and not the report.
func (n *note) read(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap, left *room) {
	defer func() {
		if cause := recover(); cause != nil {
			n.fault, n.text.Insets = "its text can't be read as Markdown", nil
		}
	}()
	text, fault := textOf(declared, kept)
	if fault == "" && len(text) > left.texts {
		fault = fmt.Sprintf("the texts of all notes would have more than %d KiB", maxAllTexts>>10)
	}
	if n.fault = fault; fault != "" {
		return
	}
	left.texts -= len(text)
	if n.fault = n.text.Parse(text); n.fault != "" {
		return
	}
	n.illustrate(filesBeside(declared, kept), left)
	// Written once, so that what can't be is found here.
	noteInPage(&n.text, false)
	noteInMarkdown(&n.text, "")
}

// textOf a note, or what is wrong with it.
func textOf(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap) (text, fault string) {
	text = declared.Text
	if at := declared.ConfigMap; at != nil {
		found := kept[at.Name]
		if found == nil {
			return "", fmt.Sprintf("ConfigMap %q is not there, or may not be read: apply it to the experiment's namespace, and change the note, so that the report is written again", at.Name)
		}
		var there bool
		if text, there = found.Data[at.Key]; !there {
			return "", fmt.Sprintf("ConfigMap %q has no text under the key %q; it has %s", at.Name, at.Key, textsOf(found))
		}
	}
	switch {
	case len(text) > MaxNoteBytes:
		return "", fmt.Sprintf("its text has %d KiB, more than the %d that a note may have: shorten it, or make two of it", (len(text)+1023)>>10, MaxNoteBytes>>10)
	case strings.TrimSpace(text) == "":
		return "", "its text is empty"
	}
	return text, ""
}

// textsOf a ConfigMap, as a sentence goes on.
func textsOf(found *corev1.ConfigMap) string {
	if len(found.Data) == 0 {
		return "none"
	}
	return prose.Enumerate(slices.Sorted(maps.Keys(found.Data)))
}

// filesBeside a note are the other entries of its ConfigMap.
func filesBeside(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap) map[string][]byte {
	files := map[string][]byte{}
	if declared.ConfigMap == nil {
		return files
	}
	found := kept[declared.ConfigMap.Name]
	for key, text := range found.Data {
		files[key] = []byte(text)
	}
	maps.Copy(files, found.BinaryData)
	return files
}

// notesIn are the notes at the end of a section. One about a scenario that the report
// has not is among them.
func (r *record) notesIn(section string) []block {
	return r.noted(2, func(one *note) bool {
		return noteSections[one.section] == section && !slices.ContainsFunc(r.scenarios, func(known *scenario) bool { return known.Name == one.scenario })
	})
}

// notesUnder a scenario.
func (r *record) notesUnder(scenario string) []block {
	return r.noted(3, func(one *note) bool { return one.section == v1alpha1.NoteResults && one.scenario == scenario })
}

// noted are the notes that are wanted, below a heading of this level.
func (r *record) noted(below int, wanted func(*note) bool) []block {
	var blocks []block
	for _, one := range r.notes {
		if wanted(one) {
			one.text.Below = below
			blocks = append(blocks, block{Markdown: &one.text})
		}
	}
	return blocks
}

// lacking are the notes and pictures that the report leaves out, and why.
func (r *record) lacking() []string {
	var sentences []string
	for _, one := range r.notes {
		faults := one.missing
		if one.fault != "" {
			faults = []string{one.fault}
		}
		for _, fault := range faults {
			sentences = append(sentences, fmt.Sprintf("note %q: %s", one.name, fault))
		}
	}
	return sentences
}

// SectionNamed is the section that a file of this name, without its ending, is for:
// the one that is called so, or the default.
func SectionNamed(name string) v1alpha1.NoteSection {
	same := func(other string) bool { return letters(other) == letters(name) }
	for _, kind := range sections {
		for called, id := range noteSections {
			if id == kind.id && (same(id) || same(kind.title) || same(string(called))) {
				return called
			}
		}
	}
	return (&v1alpha1.Note{}).SectionOrDefault()
}

// letters of a name, by which names are alike that differ in how they are spelled.
func letters(name string) string {
	return strings.NewReplacer("-", "", "utilisation", "utilization").Replace(slug(name))
}
