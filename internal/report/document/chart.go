// SPDX-License-Identifier: Apache-2.0

package document

// Named after what it shows.
func (c Chart) Named(after string) Chart {
	c.Name, c.from = FileName(after), after
	return c
}

// Chart is a picture with what it says in words.
type Chart struct {
	// Name of the file it is written to, without its ending, and what that was made of.
	Name, from string
	Title      string
	// Alt says what the picture shows to those who don't see it.
	Alt string
	SVG Picture
	// Live is what a page with scripts draws instead, as JSON; nil: the picture stays.
	Live any
}

// Picture is an SVG whose colors are those of a light page. Each stands for a
// role, so that a dark page can have its own.
type Picture string
