// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/text/prose"
)

// sectionKind is a section before it is written.
type sectionKind struct {
	// id is its anchor.
	id, title string
	blocks    func(*record) []block
}

// underScenario is a part of a section that each scenario has.
type underScenario func(*record, *scenario) []block

// sections are all that a report is made of, in the order in which performance
// teams publish.
var sections = []sectionKind{
	{"overview", "Overview", overview},
	{"summary", "Summary", summary},
	{"recommendations", "Recommendations", recommendations},
	{"test-runs", "Test Runs", testRuns},
	{"results", "Results", resultsOf},
	{"comparison", "Comparison", comparisons},
	{"resources", "Resource utilization", resources},
	{"validity", "Validity and invalid runs", validity},
	{"noise-floor", "Noise floor", noise},
	{"methodology", "Methodology", methodology},
	{"appendix", "Appendix", appendix},
}

// lookedUp are the sections that explain rather than answer: a page that can fold folds
// them.
var lookedUp = []string{"methodology", "appendix"}

// beforePast is the section that the one on earlier releases stands before, where there
// are any.
const beforePast = "resources"

// judging are the titles of the columns that readers look at first.
var judging = []string{"Verdict", "Alike", "Differs", "Status"}

// page has all sections.
func (r *record) page() document {
	page := document{Title: title(r), Subtitle: subtitle(r), Card: cardOf(r), Series: seriesOf(r.arms)}
	for _, kind := range sections {
		if kind.id == beforePast {
			page.Sections = append(page.Sections, againstPast(r)...)
		}
		page.Sections = append(page.Sections, section{
			ID: kind.id, Title: kind.title, Folded: slices.Contains(lookedUp, kind.id), Blocks: append(kind.blocks(r), r.notesIn(kind.id)...),
		})
	}
	page.finish(judging...)
	return page
}

func subtitle(r *record) string {
	return r.afterwards(fmt.Sprintf("%s: %s, %s, %s", r.Experiment.Name, prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(max(r.Experiment.Spec.DesignOrDefault().Blocks, r.blocks), "block")))
}
