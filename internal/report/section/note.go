// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
)

// Limits of notes: of a text, of a picture, and of all texts and pictures in a report.
const (
	MaxNoteBytes    = 64 << 10
	MaxPictureBytes = 512 << 10
	maxAllTexts     = 256 << 10
	maxAllPictures  = 2 << 20
)

// noteBudget is the space left for further notes.
type noteBudget struct{ texts, pictures int }

// note is a text by a person for a section, as opposed to measurements.
type note struct {
	name     string
	section  v1alpha1.NoteSection
	scenario string
	text     document.Markdown
	// fault is why the text is not shown; empty if it is shown.
	fault string
	// missing are the pictures that are not shown, and why.
	missing []string
}

// addMissing records once that a picture is not shown, or not completely.
func (n *note) addMissing(text string) {
	if !slices.Contains(n.missing, text) {
		n.missing = append(n.missing, text)
	}
}
