// SPDX-License-Identifier: Apache-2.0

package report

// sectionKind is a section before it is written.
type sectionKind struct {
	// id is its anchor.
	id, title string
	// folded: it is there to be looked up.
	folded bool
	blocks func(*record) []block
}

// underScenario is a part of a section that each scenario has.
type underScenario func(*record, *scenario) []block

// sections are all that a report is made of, in the order in which performance
// teams publish.
var sections = []sectionKind{
	{"overview", "Overview", false, overview},
	{"summary", "Summary", false, summary},
	{"recommendations", "Recommendations", false, recommendations},
	{"test-runs", "Test Runs", false, testRuns},
	{"results", "Results", false, resultsOf},
	{"comparison", "Comparison", false, comparisons},
	{"resources", "Resource utilisation", false, resources},
	{"validity", "Validity and invalid runs", false, validity},
	{"noise-floor", "Noise floor", false, noise},
	{"methodology", "Methodology", true, methodology},
	{"appendix", "Appendix", true, appendix},
}
