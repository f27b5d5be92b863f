// SPDX-License-Identifier: Apache-2.0

package report

import (
	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/comparison"
)

// PageScripts are those of the HTML page.
func PageScripts() []string { return pageScripts }

// Inline is a chart, as it was drawn, on a page.
func Inline(drawn string) string { return chartInline(picture(drawn), "") }

// Drawn are the names of all charts in the table, wherever they go.
func (r *Report) Drawn() []string {
	var names []string
	for _, kind := range chartKinds {
		for _, scenario := range r.record.scenarios {
			for _, one := range kind.drawn(r.record, scenario) {
				names = append(names, one.Name+".svg")
			}
		}
	}
	return names
}

// WrittenNote is a note of its own in each format; all are empty where it is not shown.
func WrittenNote(text string) (page, wiki, markdown string) {
	left := room{maxAllTexts, maxAllPictures}
	one := newNote(&v1alpha1.Note{Name: "cause", Text: text}, nil, &left)
	if one.fault != "" {
		return "", "", ""
	}
	one.text.Below = 2
	return noteInPage(&one.text, true), noteInWiki(&one.text, true), noteInMarkdown(&one.text, "charts")
}

// Centers are those of the runs of some arms, compared as ratios, as a page writes them.
func Centers(arms ...[]float64) []string {
	var all []*values
	for _, numbers := range arms {
		all = append(all, &values{numbers: numbers, scale: comparison.Ratio, confidence: 0.95})
	}
	writeWith(all, fewestPlaces(all))
	var written []string
	for _, one := range all {
		written = append(written, one.shown())
	}
	return written
}

// FilesOf are the files of charts that are named after what they show.
func FilesOf(names ...string) []string {
	var blocks []block
	for _, one := range names {
		blocks = append(blocks, block{Charts: []chart{chart{}.named(one)}})
	}
	page := document{Sections: []section{{Blocks: blocks}}}
	page.finish()
	var files []string
	for one := range page.charts() {
		files = append(files, one.Name)
	}
	return files
}
