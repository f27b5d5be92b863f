// SPDX-License-Identifier: Apache-2.0

package format

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/report/elements"
)

// table writes its own final newline.
func (w pageWriter) table(of *document.Table) g.Node {
	heads := g.Map(of.Columns, func(one document.Column) g.Node {
		return h.Th(h.Scope("col"), g.If(one.Number, h.Class("n")), w.seriesData(one.Series), titleLines(one.TitleLines()))
	})
	left := ""
	if of.More > 0 {
		left = of.MoreText()
	}
	return elements.Lines(
		h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("group"), h.Aria("label", of.Caption), h.Table(g.Text("\n"), elements.Lines(
			h.Caption(g.Text(of.Caption)),
			h.THead(h.Tr(heads)),
			h.TBody(g.Text("\n"), elements.Each(of.Rows, func(at int, _ *document.Row) g.Node { return w.row(of, at) })),
		))),
		elements.Text(left, h.P, h.Class("note")),
		elements.Text(of.Note, h.P, h.Class("note")),
	)
}

// titleLines writes the lines of a column's header.
func titleLines(lines []string) g.Node {
	parts := g.Group{g.Text(lines[0])}
	for _, line := range lines[1:] {
		parts = append(parts, h.Br(), g.Text(line))
	}
	return parts
}

func (w pageWriter) row(of *document.Table, at int) g.Node {
	shown := &of.Rows[at]
	var again g.Node
	switch {
	case shown.First:
		again = h.Class("first")
	case of.RepeatsHeader(at):
		again = h.Class("again")
	}
	cells := make(g.Group, 0, len(shown.Cells))
	for i := range shown.Cells {
		cells = append(cells, cellNode(i == of.HeaderIndex(), &of.Columns[i], &shown.Cells[i]))
	}
	return elements.Open("tr", []g.Node{again, w.seriesData(rowSeries(shown))}, cells)
}

// cellNode is a cell, or the row's header.
func cellNode(isHeader bool, in *document.Column, shown *document.Cell) g.Node {
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

func cellText(shown *document.Cell) g.Node {
	switch {
	case shown.Status != "":
		return statusLabel(shown.Status, shown.Text)
	case shown.Name:
		return h.Code(g.Text(shown.Text))
	}
	return g.Text(shown.Text)
}

// rowSeries is the series of a row.
func rowSeries(of *document.Row) string {
	for i := range of.Cells {
		if of.Cells[i].IsSeries {
			return of.Cells[i].Text
		}
	}
	return ""
}
