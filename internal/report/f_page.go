// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"io"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/elements"
)

// pageWriter writes a page's parts.
type pageWriter struct {
	// indexes of the series, which the page's script uses.
	indexes map[string]int
	// pictures within texts are shown.
	pictures bool
}

func (w pageWriter) page(of view) g.Node {
	return elements.Lines(
		g.Raw("<!DOCTYPE html>"),
		g.El("html", h.Lang("en"), g.If(of.IsLarge(), h.Class("large")), g.Text("\n"), elements.Lines(head(of.Title), w.body(of))),
	)
}

func head(title string) g.Node {
	return h.Head(g.Text("\n"), elements.Lines(
		h.Meta(h.Charset("utf-8")),
		h.Meta(g.Attr("http-equiv", "Content-Security-Policy"), h.Content(policy)),
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
			h.Header(g.Text("\n"), elements.Lines(h.H1(g.Text(of.Title)), h.P(g.Text(of.Subtitle)), answerCard(&of.Card))),
			h.Div(h.Class("side"), g.Text("\n"), elements.Lines(h.Nav(h.Aria("label", "Sections"), h.Ul(links)))),
			h.Main(h.ID("main"), h.TabIndex("-1"), g.Text("\n"), elements.Each(of.Sections, func(_ int, one *viewSection) g.Node { return w.section(one) })),
		)),
		h.Script(h.Type("application/json"), h.ID("arms"), jsonOf(of.Series)),
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

// block ends its last line itself.
func (w pageWriter) block(of viewBlock) g.Node {
	switch {
	case of.Heading != "":
		return elements.Lines(h.Div(h.Class("part"), h.ID(of.ID), h.H3(g.Text(of.Heading)), anchor(of.ID, of.Heading)))
	case of.Text != "":
		return elements.Lines(h.P(g.Text(of.Text)))
	case of.List != nil:
		return elements.Lines(h.Ul(g.If(of.Judged(), h.Class("plain")), g.Text("\n"), elements.Each(of.List, listItem)))
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

func listItem(_ int, of *item) g.Node {
	if of.Verdict == "" {
		return h.Li(h.Span(h.Class("wide"), g.Text(of.Text)))
	}
	return h.Li(verdictOf(of.Verdict, of.Verdict), g.Text(" "), h.Span(g.Text(of.Text)))
}

// verdictOf tells in a text what a verdict is, in its colour.
func verdictOf(verdict, text string) g.Node {
	return h.Span(h.Class("verdict "+class(verdict)), g.Text(text))
}

func (w pageWriter) tablePart(id string, of *table) g.Node {
	classes, content := "part", w.table(of)
	if of.Folded {
		classes = "part folds"
		content = h.Details(g.Attr("open"), elements.Lines(h.Summary(g.Text(of.Caption))), content)
	}
	return elements.Lines(h.Div(h.Class(classes), h.ID(id), g.Text("\n"), content, anchor(id, of.Caption)))
}

func chartPart(_ int, of *chart) g.Node {
	return h.Figure(h.Class("part"), h.ID("chart-"+of.Name), titledChart(of), anchor("chart-"+of.Name, of.Title))
}

// titledChart is a chart with its title, and what a page that is alive draws in its place.
func titledChart(of *chart) g.Node {
	parts := g.Group{h.FigCaption(g.Text(of.Title)), drawing(of.SVG, of.Alt)}
	if of.Live != nil {
		parts = append(parts, h.Script(h.Type("application/json"), jsonOf(of.Live)))
	}
	return parts
}

// drawing is a picture, which holds only what this package drew and escaped.
func drawing(of picture, alt string) g.Node { return g.Raw(chartInline(of, alt)) }

func (w pageWriter) note(of *Markdown) g.Node {
	var text g.Node
	if of.Excuse != "" {
		text = h.P(g.Text(of.Excuse))
	} else {
		text = g.Raw(noteInPage(of, w.pictures))
	}
	return elements.Lines(h.Div(h.Class("written"), h.Role("note"), h.Aria("label", of.Label),
		elements.Lines(elements.Text(of.Label, h.P, h.Class("by"))), text))
}

// anchor leads to the part it stands in, so that its address can be copied.
func anchor(address, title string) g.Node {
	return h.A(h.Class("anchor"), h.Href("#"+address), h.Aria("label", "Link to "+title), g.Text("#"))
}

// jsonOf is a value for a script to read, in which nothing can end the script.
func jsonOf(value any) g.Node {
	return g.NodeFunc(func(out io.Writer) error {
		written, err := json.Marshal(value)
		if err != nil {
			return err
		}
		_, err = out.Write(written)
		return err
	})
}

// markOf a series lets the page's script find what is of it.
func (w pageWriter) markOf(series string) g.Node {
	at, known := w.indexes[series]
	if !known {
		return nil
	}
	return h.Data("arm", strconv.Itoa(at))
}
