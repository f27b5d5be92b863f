// SPDX-License-Identifier: Apache-2.0

package format

import (
	"cmp"
	"fmt"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/report/elements"
)

// Confluence writes a page in Confluence's storage format: XHTML with macros for
// the table of contents and the statuses. With charts, it shows the files of charts and
// insets, which have to be attached to the page.
func Confluence(page *document.Document, charts bool) ([]byte, error) {
	written, err := elements.Bytes(wikiWriter{charts}.page(page))
	if err != nil {
		return nil, fmt.Errorf("writing the page for Confluence: %w", err)
	}
	return written, nil
}

// wikiWriter writes a page's parts in the storage format.
type wikiWriter struct {
	// charts means that charts and pictures of notes are shown.
	charts bool
}

func (w wikiWriter) page(of *document.Document) g.Node {
	return elements.Lines(
		h.P(g.Text(of.Subtitle)),
		h.P(h.Strong(g.Text(of.Title))),
		wikiBanner(of.Card.Banner),
		wikiAnswer(of.Card.Sentence),
		wikiFigures(of.Card.Figures),
		h.P(g.Text(of.Card.Detail)),
		wikiRemarks(of.Card.RemarksTitle, of.Card.Remarks),
		elements.Text(of.Card.Footer, h.P),
		macro("toc", parameter("maxLevel", "2")),
		g.Map(of.Sections, w.section),
	)
}

// macro is a Confluence macro, with its parameters and content.
func macro(name string, within ...g.Node) g.Node {
	return g.El("ac:structured-macro", g.Attr("ac:name", name), g.Group(within))
}

func parameter(name, value string) g.Node {
	return g.El("ac:parameter", g.Attr("ac:name", name), g.Text(value))
}

func richText(content ...g.Node) g.Node { return g.El("ac:rich-text-body", content...) }

func wikiStatus(verdict string) g.Node {
	return macro("status", parameter("title", verdict), parameter("colour", cmp.Or(lozenges[verdict], "Grey")))
}

// lozenges are the colors of the status macro.
var lozenges = map[string]string{"Better": "Green", "Worse": "Red", "Invalid": "Red", "Equivalent": "Blue", "Inconclusive": "Yellow"}

func wikiBanner(of *document.Banner) g.Node {
	if of == nil {
		return nil
	}
	return macro("note", parameter("title", of.Title),
		richText(g.Map(of.Sentences, func(sentence string) g.Node { return h.P(g.Text(sentence)) })))
}

func wikiAnswer(sentence string) g.Node {
	if sentence == "" {
		return nil
	}
	return macro("info", richText(h.P(g.Text(sentence))))
}

func wikiFigures(of []document.Figure) g.Node {
	if len(of) == 0 {
		return nil
	}
	return h.Ul(g.Text("\n"), elements.Each(of, func(_ int, one *document.Figure) g.Node {
		return h.Li(wikiStatus(one.Status), g.Text(" "), g.Text(one.Text))
	}))
}

func wikiRemarks(title string, of []string) g.Node {
	if len(of) == 0 {
		return nil
	}
	return g.Group{elements.Lines(h.P(g.Text(title))), wikiWriter{}.block(document.Block{List: document.Items(of)})}
}

func (w wikiWriter) section(of document.Section) g.Node {
	return g.Group{elements.Lines(h.H1(g.Text(of.Title))), g.Map(of.Blocks, w.block)}
}

// block writes its own final newline.
func (w wikiWriter) block(of document.Block) g.Node {
	switch {
	case of.Heading != "":
		return elements.Lines(h.H2(g.Text(of.Heading)))
	case of.Text != "":
		return elements.Lines(h.P(g.Text(of.Text)))
	case of.List != nil:
		return elements.Lines(h.Ul(g.Text("\n"), elements.Each(of.List, wikiItem)))
	case of.Steps != nil:
		return elements.Lines(h.Ol(g.Text("\n"), elements.Each(of.Steps, func(_ int, step *string) g.Node { return h.Li(g.Text(*step)) })))
	case of.Table != nil:
		return wikiTable(of.Table)
	case of.Charts != nil:
		return w.pictures(of.Charts)
	case of.Markdown != nil:
		return w.note(of.Markdown)
	case of.Code != "":
		return elements.Lines(macro("expand", parameter("title", of.CodeTitle), richText(h.Pre(g.Text(of.Code)))))
	case of.Commands != "":
		return elements.Lines(h.Pre(g.Text(of.Commands)))
	}
	return nil
}

func wikiItem(_ int, of *document.Item) g.Node {
	if of.Status == "" {
		return h.Li(g.Text(of.Text))
	}
	return h.Li(wikiStatus(of.Status), g.Text(" "), g.Text(of.Text))
}

func (w wikiWriter) pictures(of []document.Chart) g.Node {
	if !w.charts {
		return nil
	}
	return elements.Each(of, func(_ int, one *document.Chart) g.Node {
		file := g.El("ri:attachment", g.Attr("ri:filename", one.Name+".svg"))
		return h.P(g.El("ac:image", g.Attr("ac:alt", one.Alt), g.Attr("ac:width", "420"), file))
	})
}

func (w wikiWriter) note(of *document.Markdown) g.Node {
	var text g.Node
	if of.Excuse != "" {
		text = h.P(g.Text(of.Excuse))
	} else {
		text = g.Raw(ConfluenceNote(of, w.charts))
	}
	return elements.Lines(macro("panel", parameter("title", of.Label), richText(g.Text("\n"), text)))
}

func wikiTable(of *document.Table) g.Node {
	left := ""
	if of.More > 0 {
		left = of.MoreText()
	}
	content := elements.Lines(wikiGrid(of), elements.Text(left, h.P), elements.Text(of.Note, h.P))
	if of.Folded {
		return elements.Lines(macro("expand", parameter("title", of.Caption), richText(g.Text("\n"), content)))
	}
	return g.Group{elements.Lines(h.P(h.Strong(g.Text(of.Caption)))), content}
}

func wikiGrid(of *document.Table) g.Node {
	flush := func(at int) g.Node { return g.If(of.Columns[at].Number, h.Style("text-align: right;")) }
	heads := make(g.Group, 0, len(of.Columns))
	for at := range of.Columns {
		heads = append(heads, h.Th(flush(at), g.Text(of.Columns[at].Title)))
	}
	return h.Table(h.TBody(g.Text("\n"), elements.Lines(h.Tr(heads)), elements.Each(of.Rows, func(_ int, one *document.Row) g.Node {
		cells := make(g.Group, 0, len(one.Cells))
		for at := range one.Cells {
			cells = append(cells, h.Td(flush(at), wikiCell(&one.Cells[at])))
		}
		return h.Tr(cells)
	})))
}

func wikiCell(shown *document.Cell) g.Node {
	switch {
	case shown.Status != "":
		return wikiStatus(shown.Text)
	case shown.Name:
		return h.Code(g.Text(shown.Text))
	}
	return g.Text(shown.Text)
}
