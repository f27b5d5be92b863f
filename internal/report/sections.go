// SPDX-License-Identifier: Apache-2.0

package report

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
