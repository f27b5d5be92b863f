// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/report/format"
	"perflab.dev/perflab/internal/report/section"
)

// Report is an experiment's page, ready to be written in any format.
type Report struct {
	record *section.Record
	page   document.Document
}

// New builds the report. It fails with ErrInput if recorded objects contradict each other or
// can't be read.
func New(input Input) (*Report, error) {
	r, err := section.NewRecord(input)
	if err != nil {
		return nil, fmt.Errorf("experiment %q: %w", input.Experiment.Name, err)
	}
	return &Report{record: r, page: r.Page()}, nil
}

// OfReleases is the report of a history: changes, and each metric over releases, with all arms in
// one chart.
func OfReleases(history *releases.History) *Report {
	return &Report{record: &section.Record{}, page: section.ReleasesPage(history)}
}

// Title is the question that the report answers.
func (r *Report) Title() string { return r.page.Title }

// Subtitle is what the report compares.
func (r *Report) Subtitle() string { return r.page.Subtitle }

// Lacking lists the notes and pictures that the report omits, and why.
func (r *Report) Lacking() []string { return r.record.Lacking() }

// HTML is one self-contained file with styles, charts and scripts. It follows the reader's
// preference for light or dark, and prints. It is complete without its scripts.
func (r *Report) HTML() ([]byte, error) { return format.HTML(&r.page, true) }

// Markdown is the page as GitHub and most wikis read it. With a folder of charts, it shows the
// files of Charts and Pictures from there; without one, it refers to none.
func (r *Report) Markdown(charts string) []byte { return format.Markdown(&r.page, charts) }

// Confluence is the page in Confluence's storage format: XHTML with macros for
// the table of contents and the verdicts. With charts, it shows the files of
// Charts and Pictures, which have to be attached to the page.
func (r *Report) Confluence(charts bool) ([]byte, error) { return format.Confluence(&r.page, charts) }

// CSV has a row per valid run and metric, as perflab analyze reads it: with all recorded digits,
// in the order of the plan.
func (r *Report) CSV() ([]byte, error) { return format.CSV(r.record.Observations()) }

// LevelsCSV has a row per observation at each level that valid runs visited to find
// a capacity.
func (r *Report) LevelsCSV() ([]byte, error) { return format.CSV(r.record.Levels()) }

// Charts are the report's charts as SVG files, by name, for the formats that can't embed them.
func (r *Report) Charts() map[string][]byte {
	files := map[string][]byte{}
	for one := range r.page.Charts() {
		files[one.Name+".svg"] = chart.File(one.SVG, one.Title, one.Alt)
	}
	return files
}

// Pictures are the pictures of notes, by file name, for the formats that can't embed them.
func (r *Report) Pictures() map[string][]byte { return r.page.Pictures() }
