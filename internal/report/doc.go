// SPDX-License-Identifier: Apache-2.0

// Package report turns what an experiment recorded into a page for people:
// Markdown, one self-contained HTML file, Confluence storage format, and CSV
// that `perflab analyze` reads. It is pure: recorded objects in, bytes out; the
// same objects give the same bytes, with no cluster, no clock and no network.
//
//	inputs, err := report.Read(file)     // what perflab export wrote
//	result, err := report.New(inputs[0])
//	page, err := result.HTML()
//
// A page is built once as sections of paragraphs, tables and charts, in the
// order in which performance teams publish, and then written in each format. What
// people add to it is labelled as theirs, and does what foreign names do: nothing.
package report
