// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strconv"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/report/elements"
)

// writer of pages, with the time by which days are named.
type writer struct{ now time.Time }

// parts of the page, each of which is replaced when it changes.
var parts = []struct {
	name  string
	write func(writer, *page) g.Node
}{
	{"notices", writer.notices},
	{"progress", writer.progress},
	{"now", writer.current},
	{"answer", writer.answer},
	{"runs", writer.runs},
	{"seen", writer.seen},
}

// document has the report's look, and the living pages' own. Without scripts, it is
// loaded again as told.
func document(title string, again, body g.Node) g.Node {
	return elements.Lines(g.Raw("<!DOCTYPE html>"), h.HTML(h.Lang("en"), g.Text("\n"), elements.Lines(
		h.Head(g.Text("\n"), elements.Lines(
			h.Meta(h.Charset("utf-8")),
			h.Meta(h.Name("viewport"), h.Content("width=device-width, initial-scale=1")),
			h.Meta(h.Name("color-scheme"), h.Content("light dark")),
			h.TitleEl(g.Text(title)),
			again,
			report.Style(),
			h.StyleEl(g.Raw(style)),
		)),
		body,
	)))
}

// whole page: its state in its parts, which are written already.
func whole(shown *page, current *state, tag string) g.Node {
	written := make([]g.Node, 0, len(parts))
	for _, one := range parts {
		of := current.Parts[one.name]
		written = append(written, h.Div(h.ID("part-"+one.name), h.Data("digest", of.Digest), g.Raw(of.HTML)))
	}
	again := h.NoScript(h.Meta(g.Attr("http-equiv", "refresh"), h.Content("10")))
	return document(shown.Title, again, h.Body(h.Data("tag", tag), g.If(current.Complete, g.Attr("data-complete")), g.Text("\n"), elements.Lines(
		h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to what it does now")),
		h.Div(h.Class("living"), g.Text("\n"), elements.Lines(
			h.Header(g.Text("\n"), elements.Lines(h.H1(g.Text(shown.Title)), h.P(g.Text(shown.Subtitle)))),
			h.P(h.Class("unseen"), h.Role("status"), h.ID("headline"), g.Text(shown.Headline)),
			h.Div(h.ID("silent")),
			h.Main(h.ID("main"), h.TabIndex("-1"), g.Text("\n"), elements.Lines(written...)),
		)),
		h.Script(g.Raw(script)),
	)))
}

func (w writer) notices(of *page) g.Node {
	return elements.Each(of.Notices, func(_ int, one *notice) g.Node {
		return h.Aside(h.Class("banner notice"), h.P(h.Strong(g.Text(one.Title)), g.Text(" "+one.Text)))
	})
}

func (w writer) progress(of *page) g.Node {
	var phase, waits g.Node
	if of.Phase != "" {
		phase = h.P(h.Class("state"), h.Strong(g.Text(of.Phase)))
	}
	if of.Waits != "" {
		waits = h.P(h.Class("waits"), g.Text("It "+of.Waits+"."))
	}
	return elements.Lines(phase, bar(of.Progress), w.facts(of), waits, troubles(of.Troubles))
}

func bar(of *counts) g.Node {
	if of == nil {
		return nil
	}
	return h.Progress(h.Max(digits(of.Planned)), h.Value(digits(of.Done)), h.Aria("label", "Runs done"), ofAll(of.Done, of.Planned))
}

func digits(of int32) string { return strconv.Itoa(int(of)) }

func ofAll(part, all int32) g.Node { return g.Textf("%d of %d", part, all) }

func (w writer) facts(of *page) g.Node {
	runs := of.Progress
	if runs == nil {
		return nil
	}
	facts := []g.Node{fact("Runs done", ofAll(runs.Done, runs.Planned))}
	if runs.Block != 0 {
		facts = append(facts, fact("Block", ofAll(runs.Block, runs.Blocks)))
	}
	if runs.Invalid != 0 {
		facts = append(facts, fact("Attempts that did not count", g.Text(digits(runs.Invalid))))
	}
	if of.Verdict != "" {
		facts = append(facts, fact("Verdicts", g.Text(of.Verdict)))
	}
	if !of.Ends.IsZero() {
		facts = append(facts, fact("Expected to end", g.Group{g.Text("about "), moment(of.Ends, minute(of.Ends, w.now))}))
	}
	return h.Dl(h.Class("facts"), g.Text("\n"), elements.Lines(facts...))
}

func fact(term string, value g.Node) g.Node { return h.Div(h.Dt(g.Text(term)), h.Dd(value)) }

// moment shows a time in words.
func moment(at time.Time, words string) g.Node {
	return h.Time(h.DateTime(at.UTC().Format(time.RFC3339)), g.Text(words))
}

// clockOf a time, if there is one.
func (w writer) clockOf(at time.Time) g.Node {
	if at.IsZero() {
		return nil
	}
	return moment(at, clock(at, w.now))
}

func troubles(of []trouble) g.Node {
	if len(of) == 0 {
		return nil
	}
	return h.Ul(h.Class("plain troubles"), g.Text("\n"), elements.Each(of, func(_ int, one *trouble) g.Node {
		return h.Li(h.Strong(g.Text(one.What)), g.Text(" "), h.Span(g.Text(one.Text)))
	}))
}

// part of the page with a title of its own.
func section(name, title string, content ...g.Node) g.Node {
	id := name + "-title"
	return h.Section(h.Aria("labelledby", id), elements.Lines(h.H2(h.ID(id), g.Text(title))), elements.Lines(content...))
}

func (w writer) current(of *page) g.Node {
	run := of.Run
	if run == nil {
		return g.Group{}
	}
	return section("now", "Now", stepsOf(run.Steps), what(run), elements.Text(run.Doing, h.P, h.Class("doing")), w.loads(run), chartsPart(run.Charts))
}

func stepsOf(steps []step) g.Node {
	return h.Ol(h.Class("steps"), h.Aria("label", "Steps of the run"), g.Map(steps, func(one step) g.Node {
		return h.Li(g.If(one.Current, g.Attr("aria-current", "step")), g.If(one.Past && !one.Current, h.Class("past")), g.Text(one.Name))
	}))
}

// what a run is of.
func what(run *current) g.Node {
	name := h.Code(g.Text(run.Name))
	if run.Arm == "" {
		return h.P(name)
	}
	words := g.Textf(", block %d: ", run.Block)
	if run.Attempt > 1 {
		words = g.Textf(", block %d, attempt %d: ", run.Block, run.Attempt)
	}
	return h.P(h.Strong(g.Text(run.Arm)), g.Text(" under "), h.Strong(g.Text(run.Scenario)), words, name)
}

// column of a table: numbers are set flush right.
type column struct {
	title  string
	number bool
}

func table(label, caption string, columns []column, rows g.Node) g.Node {
	heads := g.Map(columns, func(one column) g.Node {
		return h.Th(h.Scope("col"), g.If(one.number, h.Class("n")), g.Text(one.title))
	})
	return h.Div(h.Class("scroll"), h.TabIndex("0"), h.Role("group"), h.Aria("label", label), h.Table(g.Text("\n"),
		elements.Lines(h.Caption(g.Text(caption)), h.THead(h.Tr(heads))), h.TBody(g.Text("\n"), rows)))
}

func words(text string) g.Node { return h.Td(g.Text(text)) }

func figures(text string) g.Node { return h.Td(h.Class("n"), g.Text(text)) }

func (w writer) loads(of *current) g.Node {
	if len(of.Loads) == 0 {
		return nil
	}
	columns := []column{{"Load", false}, {"p95 so far", false}, {"Failed so far", true}, {"Users", true}, {"Requests/s", true}}
	if of.Records {
		columns = append(columns, column{"Records", true})
	}
	columns = append(columns, column{"State", false}, column{"Told", false})
	return table("Loads of the run", "Loads of the run, as last reported", columns, elements.Each(of.Loads, func(_ int, one *loadRow) g.Node {
		percentiles := g.Map(one.P95, func(line string) g.Node { return h.Span(g.Text(line)) })
		return h.Tr(
			h.Th(h.Scope("row"), h.Code(g.Text(one.Name))), h.Td(h.Class("lines"), percentiles),
			figures(one.Errors), figures(one.Users), figures(one.Requests), g.If(of.Records, figures(one.Records)),
			words(one.State), h.Td(w.clockOf(one.Told)),
		)
	}))
}

func chartsPart(of []chart) g.Node {
	if len(of) == 0 {
		return nil
	}
	return g.Group{
		elements.Lines(h.Div(h.Class("charts"), g.Text("\n"), elements.Each(of, func(_ int, one *chart) g.Node {
			return h.Figure(h.FigCaption(g.Text(one.Title)), one.SVG)
		}))),
		h.P(h.Class("note"), g.Text("One point for each report that was heard since this run was first looked at here.")),
	}
}

func (w writer) answer(of *page) g.Node {
	if of.Card == nil && of.Unanswered == "" {
		return g.Group{}
	}
	return section("answer", "The answer so far", elements.Text(of.Unanswered, h.P), of.Card,
		h.P(h.A(h.Href("report"), g.Text("The report so far"))))
}

func (w writer) runs(of *page) g.Node {
	if len(of.Runs) == 0 {
		return g.Group{}
	}
	columns := []column{{"Arm", false}, {"Scenario", false}, {"Block", true}, {"Ended", false}, {"Took", true}, {"Counts", false}}
	rows := elements.Each(of.Runs, func(_ int, one *pastRun) g.Node {
		return h.Tr(
			h.Th(h.Scope("row"), h.Code(g.Text(one.Arm))), h.Td(h.Code(g.Text(one.Scenario))), figures(digits(one.Block)),
			h.Td(w.clockOf(one.Ended)), figures(one.Took), h.Td(counting(one)),
		)
	})
	var more g.Node
	if of.More > 0 {
		more = h.P(h.Class("note"), g.Textf("%d more ended before.", of.More))
	}
	return section("runs", "Runs that ended", table("Runs that ended", "The newest first", columns, rows), more)
}

// counting says whether a run counts, and why it does not.
func counting(of *pastRun) g.Node {
	if of.Valid {
		return g.Text("yes")
	}
	return g.Group{h.Span(h.Class("verdict invalid"), g.Text("no")), g.Text(" " + of.Invalid)}
}

func (w writer) seen(of *page) g.Node {
	if of.Seen.IsZero() {
		return g.Group{}
	}
	change := g.Text("Last change")
	if of.Name != "" {
		change = g.Group{h.Code(g.Text(of.Name)), g.Text(", last change")}
	}
	return elements.Lines(h.P(h.Class("note"), change, g.Text(" seen at "), w.clockOf(of.Seen), g.Text(".")))
}

// list of experiments.
func list(of []Listed) g.Node {
	content := h.P(g.Text("There is no experiment yet."))
	if len(of) > 0 {
		columns := []column{{"Experiment", false}, {"Namespace", false}, {"Phase", false}, {"Runs", true}, {"Verdict", false}, {"Waits for", false}}
		content = table("Experiments", "Each with its living page, or its report once it is complete", columns, elements.Each(of, func(_ int, one *Listed) g.Node {
			return h.Tr(
				h.Th(h.Scope("row"), h.A(h.Href(one.Namespace+"/"+one.Name+"/"), g.Text(one.Name))), words(one.Namespace),
				words(one.Phase), figures(one.Progress), words(one.Verdict), words(one.Waiting),
			)
		}))
	}
	return document("Experiments", nil, h.Body(g.Text("\n"), elements.Lines(h.Div(h.Class("living"), g.Text("\n"), elements.Lines(
		h.Header(h.H1(g.Text("Experiments"))),
		h.Main(g.Text("\n"), elements.Lines(content)),
	)))))
}
