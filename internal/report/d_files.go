// SPDX-License-Identifier: Apache-2.0

package report

import (
	"iter"
	"strings"

	"perflab.dev/perflab/internal/naming"
)

// named after what it shows.
func (c chart) named(after string) chart {
	c.Name, c.from = fileName(after), after
	return c
}

// maxFileName leaves room for an ending within what file systems take.
const maxFileName = 200

// fileName makes the name of a chart fit for a file, whatever a metric is called.
// Where more than its parts' separators had to be replaced, or it had to be cut, a
// digest tells it from others.
func fileName(of string) string {
	name := []rune(of)
	exact := len(name) <= maxFileName
	for i, letter := range name {
		isPlain := letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' || letter >= '0' && letter <= '9' || letter == '-'
		if !isPlain {
			exact = exact && strings.ContainsRune("/_.", letter)
			name[i] = '-'
		}
	}
	if !exact {
		return withDigest(string(name[:min(len(name), maxFileName)]), of)
	}
	return string(name)
}

func withDigest(name, of string) string { return name + "-" + naming.Hash(of)[:naming.DigestLength] }

// charts of all sections.
func (d *document) charts() iter.Seq[*chart] {
	return func(yield func(*chart) bool) {
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

// pictures within texts, by the names of their files.
func (d *document) pictures() map[string][]byte {
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

// nameCharts adds a digest to names that are the same, also where a file system does not
// tell capital letters.
func (d *document) nameCharts() {
	named := map[string]int{}
	for one := range d.charts() {
		named[strings.ToLower(one.Name)]++
	}
	for one := range d.charts() {
		if named[strings.ToLower(one.Name)] > 1 {
			one.Name = withDigest(one.Name, one.from)
		}
	}
}

// chart is a picture with what it says in words.
type chart struct {
	// Name of the file it is written to, without its ending, and what that was made of.
	Name, from string
	Title      string
	// Alt says what the picture shows to those who don't see it.
	Alt string
	SVG picture
	// Live is what a page with scripts draws instead, as JSON; nil: the picture stays.
	Live any
}

// picture is an SVG whose colours are those of a light page. Each stands for a
// role, so that a dark page can have its own.
type picture string

// slug is a text in letters, digits and hyphens, and not longer than an address
// that people pass on may be.
func slug(text string) string {
	const enough = 60
	words := strings.FieldsFunc(strings.ToLower(text), func(letter rune) bool {
		return (letter < 'a' || letter > 'z') && (letter < '0' || letter > '9')
	})
	joined := strings.Join(words, "-")
	return strings.TrimSuffix(joined[:min(len(joined), enough)], "-")
}
