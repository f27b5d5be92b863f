// SPDX-License-Identifier: Apache-2.0

// Package report turns what an experiment recorded into a page: Markdown, one self-contained HTML
// file, Confluence storage format, and CSV that `perflab analyze` reads. It is pure: recorded
// objects in, bytes out; the same objects give the same bytes, with no cluster, no clock and no
// network.
//
//	inputs, err := report.Read(file)     // what perflab export wrote
//	result, err := report.New(inputs[0])
//	page, err := result.HTML()
//
// A page is built once as sections of paragraphs, tables and charts, in the order in which
// performance teams publish, and then written in each format. Notes of people are labeled as
// theirs. Neither they nor third-party names can run code.
//
// Package section builds the page as a document, with charts of package chart. Package format
// writes it.
package report
