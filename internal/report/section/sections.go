// SPDX-License-Identifier: Apache-2.0

// Package section writes the parts of a report from what an experiment recorded.
package section

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// sectionKind is a section before it is written.
type sectionKind struct {
	// id is its anchor.
	id, title string
	blocks    func(*Record) []document.Block
}

// sections are all sections of a report, in the order in which performance teams publish.
var sections = []sectionKind{
	{"overview", "Overview", overview},
	{"summary", "Summary", summary},
	{"recommendations", "Recommendations", recommendations},
	{"test-runs", "Test Runs", testRuns},
	{"results", "Results", resultBlocks},
	{"comparison", "Comparison", comparisons},
	{"resources", "Resource utilization", resources},
	{"validity", "Validity and invalid runs", validity},
	{"noise-floor", "Noise floor", noise},
	{"methodology", "Methodology", methodology},
	{"appendix", "Appendix", appendix},
}

// foldedSections explain rather than answer; formats that can fold them do.
var foldedSections = []string{"methodology", "appendix"}

// pastSectionBefore is the section after the one on earlier releases.
const pastSectionBefore = "resources"

// Page has all sections.
func (r *Record) Page() document.Document {
	page := document.Document{Title: pageTitle(r), Subtitle: subtitle(r), Card: newCard(r), Series: newSeries(r.arms)}
	for _, kind := range sections {
		if kind.id == pastSectionBefore {
			page.Sections = append(page.Sections, pastSection(r)...)
		}
		page.Sections = append(page.Sections, document.Section{
			ID: kind.id, Title: kind.title, Folded: slices.Contains(foldedSections, kind.id), Blocks: append(kind.blocks(r), r.notesIn(kind.id)...),
		})
	}
	page.Finish(leadingColumns...)
	return page
}

func subtitle(r *Record) string {
	return r.withOrigin(fmt.Sprintf("%s: %s, %s, %s", r.Experiment.Name, prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(max(r.Experiment.Spec.DesignOrDefault().Blocks, r.blocks), "block")))
}

// Named returns the section that a note file belongs to: the one with the file's name, without
// its extension, or the default section.
func Named(name string) v1alpha1.NoteSection {
	same := func(other string) bool { return comparableName(other) == comparableName(name) }
	for _, kind := range sections {
		for called, id := range noteSections {
			if id == kind.id && (same(id) || same(kind.title) || same(string(called))) {
				return called
			}
		}
	}
	return (&v1alpha1.Note{}).SectionOrDefault()
}

// comparableName makes different spellings of a name equal.
func comparableName(name string) string {
	return strings.NewReplacer("-", "", "utilisation", "utilization").Replace(document.Slug(name))
}
