// SPDX-License-Identifier: Apache-2.0

package report

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/elements"
)

// table ends its last line itself.
func (w pageWriter) table(of *table) g.Node {
	heads := g.Map(of.Columns, func(one column) g.Node {
		return h.Th(h.Scope("col"), g.If(one.Number, h.Class("n")), w.markOf(one.Arm), titleLines(one.lines()))
	})
	left := ""
	if of.More > 0 {
		left = of.Left()
	}
	return elements.Lines(
		h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("group"), h.Aria("label", of.Caption), h.Table(g.Text("\n"), elements.Lines(
			h.Caption(g.Text(of.Caption)),
			h.THead(h.Tr(heads)),
			h.TBody(g.Text("\n"), elements.Each(of.Rows, func(at int, _ *row) g.Node { return w.row(of, at) })),
		))),
		elements.Text(left, h.P, h.Class("note")),
		elements.Text(of.Note, h.P, h.Class("note")),
	)
}

// titleLines of a column's header.
func titleLines(lines []string) g.Node {
	parts := g.Group{g.Text(lines[0])}
	for _, line := range lines[1:] {
		parts = append(parts, h.Br(), g.Text(line))
	}
	return parts
}

func (w pageWriter) row(of *table, at int) g.Node {
	shown := &of.Rows[at]
	var again g.Node
	switch {
	case shown.First:
		again = h.Class("first")
	case of.Repeats(at):
		again = h.Class("again")
	}
	cells := make(g.Group, 0, len(shown.Cells))
	for i := range shown.Cells {
		cells = append(cells, cellOf(i == of.header(), &of.Columns[i], &shown.Cells[i]))
	}
	return elements.Open("tr", []g.Node{again, w.markOf(armOf(shown))}, cells)
}

// cellOf a column, or the row's header.
func cellOf(isHeader bool, in *column, shown *cell) g.Node {
	var classes g.Node
	switch {
	case in.Number:
		classes = h.Class("n" + heatClass(shown.Heat))
	case in.Date:
		classes = h.Class("d")
	}
	if isHeader {
		return elements.Open("th", []g.Node{h.Scope("row"), classes}, cellText(shown))
	}
	return elements.Open("td", []g.Node{classes}, cellText(shown))
}

func cellText(shown *cell) g.Node {
	switch {
	case shown.Verdict != "":
		return verdictOf(shown.Verdict, shown.Text)
	case shown.Name:
		return h.Code(g.Text(shown.Text))
	}
	return g.Text(shown.Text)
}

// armOf a row is the one it is about.
func armOf(of *row) string {
	for i := range of.Cells {
		if of.Cells[i].Arm {
			return of.Cells[i].Text
		}
	}
	return ""
}
