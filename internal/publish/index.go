// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/url"
	"slices"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/report/elements"
	"perflab.dev/perflab/internal/text/prose"
)

//go:embed index.css
var indexStyle string

// renderIndex lists reports, newest first: the same bytes for the same reports in any order.
func renderIndex(entries []Entry) ([]byte, error) {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b Entry) int {
		return cmp.Or(b.Measured.Compare(a.Measured), cmp.Compare(a.folder, b.folder))
	})
	written, err := elements.Bytes(elements.Lines(g.Raw("<!DOCTYPE html>"), h.HTML(h.Lang("en"), g.Text("\n"), elements.Lines(
		h.Head(g.Text("\n"), elements.Lines(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.Meta(h.Name("generator"), h.Content("perflab publish")),
			h.TitleEl(g.Text("Performance reports")),
			h.StyleEl(g.Raw("\n"+indexStyle)),
		)),
		h.Body(g.Text("\n"), elements.Lines(h.Main(g.Text("\n"), elements.Lines(
			h.H1(g.Text("Performance reports")),
			h.Ol(g.Text("\n"), elements.Each(sorted, entryItem)),
		)))),
	))))
	if err != nil {
		return nil, fmt.Errorf("writing the index: %w", err)
	}
	return written, nil
}

func entryItem(_ int, of *Entry) g.Node {
	page := url.URL{Path: of.folder + "/" + pageFile}
	return h.Li(g.Text("\n"), elements.Lines(
		h.H2(h.A(h.Href(page.String()), g.Text(of.Question))),
		h.P(g.Text(of.Answer)),
		verdicts(of.Verdicts),
		h.P(h.Class("about"), measured(of.Measured), g.Text(" · "+prose.Counted(of.Runs, "run")+" · "),
			g.If(of.Namespace != "", g.Text(of.Namespace+" · ")), g.Text(of.Experiment)),
	))
}

func verdicts(of []report.Statement) g.Node {
	if len(of) == 0 {
		return nil
	}
	return h.P(h.Class("verdicts"), g.Map(of, func(one report.Statement) g.Node { return h.Span(h.Class(one.Class()), g.Text(one.Text)) }))
}

func measured(at time.Time) g.Node {
	if at.IsZero() {
		return g.Text("not measured yet")
	}
	return h.Time(h.DateTime(at.Format(time.RFC3339)), g.Text(at.Format("2 January 2006")))
}
