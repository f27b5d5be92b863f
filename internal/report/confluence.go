// SPDX-License-Identifier: Apache-2.0

package report

import "html/template"

// Confluence is the page in Confluence's storage format: XHTML with macros for
// the table of contents and the verdicts. With charts, it shows the files of
// Charts and Pictures, which have to be attached to the page.
func (r *Report) Confluence(charts bool) ([]byte, error) {
	return r.execute("confluence.xml", r.page, template.FuncMap{
		"charts":  func() bool { return charts },
		"written": func(n *note) template.HTML { return n.wiki(charts) },
		"colour":  func(verdict string) string { return lookOf(verdict).lozenge },
	})
}
