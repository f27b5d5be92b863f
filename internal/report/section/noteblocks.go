// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
)

// noteSections are the sections that take notes, by their names in the API.
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

// notesIn are the notes at the end of a section, including those about a scenario that the report
// does not have.
func (r *Record) notesIn(section string) []document.Block {
	return r.noteBlocks(2, func(one *note) bool {
		return noteSections[one.section] == section && !slices.ContainsFunc(r.scenarios, func(known *scenario) bool { return known.Name == one.scenario })
	})
}

// notesUnder a scenario.
func (r *Record) notesUnder(scenario string) []document.Block {
	return r.noteBlocks(3, func(one *note) bool { return one.section == v1alpha1.NoteResults && one.scenario == scenario })
}

// noteBlocks are the notes for which wanted returns true, below a heading of this level.
func (r *Record) noteBlocks(below int, wanted func(*note) bool) []document.Block {
	var blocks []document.Block
	for _, one := range r.notes {
		if wanted(one) {
			one.text.Below = below
			blocks = append(blocks, document.Block{Markdown: &one.text})
		}
	}
	return blocks
}
