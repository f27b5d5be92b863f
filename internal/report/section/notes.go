// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/format"
	"perflab.dev/perflab/internal/text/prose"
)

func newNote(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap, left *noteBudget) *note {
	one := &note{name: declared.Name, section: declared.SectionOrDefault(), scenario: declared.Scenario}
	one.text.Name, one.text.Label = "note "+one.name, fmt.Sprintf("Note %s (written by hand, not measured)", one.name)
	if one.read(declared, kept, left); one.fault != "" {
		one.text.Excuse = fmt.Sprintf("Omitted: %s.", one.fault)
	}
	return one
}

// newNotes are all notes of an experiment except marks, in the declared order. A problem with one
// is reported in its place, and does not affect the rest.
func newNotes(input *Input) []*note {
	kept := map[string]*corev1.ConfigMap{}
	for i := range input.Notes {
		kept[input.Notes[i].Name] = &input.Notes[i]
	}
	left := noteBudget{maxAllTexts, maxAllPictures}
	var all []*note
	for i := range input.Experiment.Spec.Notes {
		if declared := &input.Experiment.Spec.Notes[i]; declared.At == nil {
			all = append(all, newNote(declared, kept, &left))
		}
	}
	return all
}

// read reads the note, within the budget. If the library panics over a text, the report loses
// only that note.
func (n *note) read(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap, left *noteBudget) {
	defer func() {
		if cause := recover(); cause != nil {
			n.fault, n.text.Insets = "its text is not valid Markdown", nil
		}
	}()
	text, fault := noteText(declared, kept)
	if fault == "" && len(text) > left.texts {
		fault = fmt.Sprintf("the texts of all notes exceed %d KiB", maxAllTexts>>10)
	}
	if n.fault = fault; fault != "" {
		return
	}
	left.texts -= len(text)
	if n.fault = n.text.Parse(text); n.fault != "" {
		return
	}
	n.illustrate(siblingFiles(declared, kept), left)
	// Trial rendering finds texts that can't be rendered.
	format.HTMLNote(&n.text, false)
	format.MarkdownNote(&n.text, "")
}

// noteText is the text of a note, or what is wrong with it.
func noteText(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap) (text, fault string) {
	text = declared.Text
	if at := declared.ConfigMap; at != nil {
		found := kept[at.Name]
		if found == nil {
			return "", fmt.Sprintf("ConfigMap %q does not exist, or is not readable: apply it to the experiment's namespace, and change the note to update the report", at.Name)
		}
		var there bool
		if text, there = found.Data[at.Key]; !there {
			return "", fmt.Sprintf("ConfigMap %q has no text under the key %q; keys with text: %s", at.Name, at.Key, textKeys(found))
		}
	}
	switch {
	case len(text) > MaxNoteBytes:
		return "", fmt.Sprintf("its text has %d KiB, more than the limit of %d KiB: shorten it, or split the note", (len(text)+1023)>>10, MaxNoteBytes>>10)
	case strings.TrimSpace(text) == "":
		return "", "its text is empty"
	}
	return text, ""
}

// textKeys are the keys of a ConfigMap's texts, within a sentence.
func textKeys(found *corev1.ConfigMap) string {
	if len(found.Data) == 0 {
		return "none"
	}
	return prose.Enumerate(slices.Sorted(maps.Keys(found.Data)))
}

// siblingFiles are the other entries of a note's ConfigMap.
func siblingFiles(declared *v1alpha1.Note, kept map[string]*corev1.ConfigMap) map[string][]byte {
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

// Lacking lists the notes and pictures that the report omits, and why.
func (r *Record) Lacking() []string {
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
