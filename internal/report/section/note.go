// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
)

// Bounds of notes: of a text, of a picture, and of all texts and pictures that a report
// shows.
const (
	MaxNoteBytes    = 64 << 10
	MaxPictureBytes = 512 << 10
	maxAllTexts     = 256 << 10
	maxAllPictures  = 2 << 20
)

// noteBudget is what is left of these for further notes.
type noteBudget struct{ texts, pictures int }

// note is a text that a person wrote for a section, as opposed to what was measured.
type note struct {
	name     string
	section  v1alpha1.NoteSection
	scenario string
	text     document.Markdown
	// fault says why the text is not shown; empty: it is.
	fault string
	// missing are the pictures that are not, and why.
	missing []string
}

// addMissing notes a picture that is not shown, or not whole, once.
func (n *note) addMissing(told string) {
	if !slices.Contains(n.missing, told) {
		n.missing = append(n.missing, told)
	}
}
