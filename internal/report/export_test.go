// SPDX-License-Identifier: Apache-2.0

package report

import (
	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/format"
)

// WrittenNote is a note in each format; all are empty if the note is not shown.
func WrittenNote(text string) (page, wiki, markdown string) {
	var input Input
	input.Experiment.Spec.Notes = []v1alpha1.Note{{Name: "cause", Text: text}}
	r, err := New(input)
	if err != nil {
		return "", "", ""
	}
	for _, section := range r.page.Sections {
		for _, block := range section.Blocks {
			if note := block.Markdown; note != nil && note.Excuse == "" {
				return format.HTMLNote(note, true), format.ConfluenceNote(note, true), format.MarkdownNote(note, "charts")
			}
		}
	}
	return "", "", ""
}
