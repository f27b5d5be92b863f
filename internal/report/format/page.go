// SPDX-License-Identifier: Apache-2.0

package format

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/report/elements"
)

func (w pageWriter) page(of view) g.Node {
	return elements.Lines(
		g.Raw("<!DOCTYPE html>"),
		g.El("html", h.Lang("en"), g.If(of.IsLarge(), h.Class("large")), g.Text("\n"), elements.Lines(head(of.Title), w.body(of))),
	)
}

func head(title string) g.Node {
	return h.Head(g.Text("\n"), elements.Lines(
		h.Meta(h.Charset("utf-8")),
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(Policy)),
		h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
		h.Meta(h.Name("color-scheme"), h.Content("light dark")),
		h.TitleEl(g.Text(title)),
		Style(),
		h.Script(g.Raw(pageScripts[0])),
	))
}

func (w pageWriter) body(of view) g.Node {
	links := g.Map(of.Sections, func(one viewSection) g.Node { return h.Li(h.A(h.Href("#"+one.ID), g.Text(one.Title))) })
	return h.Body(g.Text("\n"), elements.Lines(
		h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to the results")),
		h.Div(h.Class("layout"), g.Text("\n"), elements.Lines(
			h.Header(g.Text("\n"), elements.Lines(h.H1(g.Text(of.Title)), h.P(g.Text(of.Subtitle)), Card(&of.Card))),
			h.Div(h.Class("side"), g.Text("\n"), elements.Lines(h.Nav(h.Aria("label", "Sections"), h.Ul(links)))),
			h.Main(h.ID("main"), h.TabIndex("-1"), g.Text("\n"), elements.Each(of.Sections, func(_ int, one *viewSection) g.Node { return w.section(one) })),
		)),
		h.Script(h.Type("application/json"), h.ID("arms"), jsonNode(of.Series)),
		elements.Each(pageScripts[1:], func(_ int, script *string) g.Node { return h.Script(g.Raw(*script)) }),
	))
}

func (w pageWriter) section(of *viewSection) g.Node {
	title := h.H2(h.ID(of.ID+"-title"), g.Text(of.Title))
	blocks := g.Map(of.Blocks, w.block)
	content := g.Node(g.Group{elements.Lines(title), blocks})
	if of.Folded {
		content = elements.Lines(h.Details(g.Attr("open"), elements.Lines(h.Summary(title)), blocks))
	}
	return h.Section(h.ID(of.ID), h.Aria("labelledby", of.ID+"-title"), g.If(of.Folded, h.Class("folds")), g.Text("\n"),
		content, anchor(of.ID, of.Title))
}

// block writes its own final newline.
func (w pageWriter) block(of viewBlock) g.Node {
	switch {
	case of.Heading != "":
		return elements.Lines(h.Div(h.Class("part"), h.ID(of.ID), h.H3(g.Text(of.Heading)), anchor(of.ID, of.Heading)))
	case of.Text != "":
		return elements.Lines(h.P(g.Text(of.Text)))
	case of.List != nil:
		return elements.Lines(h.Ul(g.If(of.HasStatus(), h.Class("plain")), g.Text("\n"), elements.Each(of.List, listItem)))
	case of.Steps != nil:
		return elements.Lines(h.Ol(g.Text("\n"), elements.Each(of.Steps, func(_ int, step *string) g.Node { return h.Li(g.Text(*step)) })))
	case of.Table != nil:
		return w.tablePart(of.ID, of.Table)
	case of.Charts != nil:
		return elements.Lines(h.Div(h.Class("charts"), g.Text("\n"), elements.Each(of.Charts, chartPart)))
	case of.Markdown != nil:
		return w.note(of.Markdown)
	case of.Code != "":
		return elements.Lines(h.Pre(h.TabIndex("0"), g.Text(of.Code)))
	case of.Commands != "":
		return elements.Lines(h.Pre(h.TabIndex("0"), g.Text(of.Commands)))
	}
	return nil
}

func listItem(_ int, of *document.Item) g.Node {
	if of.Status == "" {
		return h.Li(h.Span(h.Class("wide"), g.Text(of.Text)))
	}
	return h.Li(statusLabel(of.Status, of.Status), g.Text(" "), h.Span(g.Text(of.Text)))
}

func (w pageWriter) tablePart(id string, of *document.Table) g.Node {
	classes, content := "part", w.table(of)
	if of.Folded {
		classes = "part folds"
		content = h.Details(g.Attr("open"), elements.Lines(h.Summary(g.Text(of.Caption))), content)
	}
	return elements.Lines(h.Div(h.Class(classes), h.ID(id), g.Text("\n"), content, anchor(id, of.Caption)))
}

func chartPart(_ int, of *document.Chart) g.Node {
	return h.Figure(h.Class("part"), h.ID("chart-"+of.Name), titledChart(of), anchor("chart-"+of.Name, of.Title))
}

func (w pageWriter) note(of *document.Markdown) g.Node {
	var text g.Node
	if of.Excuse != "" {
		text = h.P(g.Text(of.Excuse))
	} else {
		text = g.Raw(HTMLNote(of, w.pictures))
	}
	return elements.Lines(h.Div(h.Class("written"), h.Role("note"), h.Aria("label", of.Label),
		elements.Lines(elements.Text(of.Label, h.P, h.Class("by"))), text))
}
