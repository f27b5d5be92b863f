// SPDX-License-Identifier: Apache-2.0

package document

// Named names the chart after its content.
func (c Chart) Named(after string) Chart {
	c.Name, c.from = FileName(after), after
	return c
}

// Chart is a picture with a description.
type Chart struct {
	// Name of its file, without extension, and the text that the name is derived from.
	Name, from string
	Title      string
	// Alt describes the picture for readers who can't see it.
	Alt string
	SVG Picture
	// Live is the data, as JSON, that a page with scripts draws instead; nil keeps the picture.
	Live any
}

// Picture is an SVG in the colors of a light page. Each color has a role, so that a dark page can
// replace it.
type Picture string
