// SPDX-License-Identifier: Apache-2.0

// Package document is the model of a page: sections of headings, paragraphs, lists, tables and
// charts, below a card. It is independent of the content.
package document

import (
	"iter"
	"strings"
)

// Document is a report before it has a format. Its texts are plain: every format escapes them.
type Document struct {
	Title    string
	Subtitle string
	Card     Card
	Sections []Section
	Series   []Series
}

// Finish formats the numbers of sentences consistently, drops empty columns, moves the columns
// with these titles to the front, and gives each chart its own file.
func (d *Document) Finish(first ...string) {
	d.nameCharts()
	d.Card.finish()
	for _, one := range d.Sections {
		for i := range one.Blocks {
			one.Blocks[i].finish(first)
		}
	}
}

// Series is a series that a page can hide.
type Series struct {
	Name string `json:"name"`
	// Color is the CSS variable.
	Color string `json:"color"`
	// Dash of its lines; nil for solid lines.
	Dash []int `json:"dash,omitempty"`
}

// Charts returns the charts of all sections.
func (d *Document) Charts() iter.Seq[*Chart] {
	return func(yield func(*Chart) bool) {
		for _, section := range d.Sections {
			for _, block := range section.Blocks {
				for i := range block.Charts {
					if !yield(&block.Charts[i]) {
						return
					}
				}
			}
		}
	}
}

// Pictures returns the pictures within texts, by file name.
func (d *Document) Pictures() map[string][]byte {
	files := map[string][]byte{}
	for _, section := range d.Sections {
		for _, block := range section.Blocks {
			if block.Markdown == nil {
				continue
			}
			for _, one := range block.Markdown.Insets {
				if one.Fault == "" {
					files[one.File] = one.Body
				}
			}
		}
	}
	return files
}

// nameCharts adds a digest to equal names, also if they differ only in case: some file systems
// ignore case.
func (d *Document) nameCharts() {
	named := map[string]int{}
	for one := range d.Charts() {
		named[strings.ToLower(one.Name)]++
	}
	for one := range d.Charts() {
		if named[strings.ToLower(one.Name)] > 1 {
			one.Name = withDigest(one.Name, one.from)
		}
	}
}
