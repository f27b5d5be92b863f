// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strconv"
	"strings"
	"time"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/report/elements"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/view/progress"
)

// writer of pages; now decides which times show their day.
type writer struct{ now time.Time }

// parts of the page. Each is replaced when it changes.
var parts = []struct {
	name  string
	write func(writer, *page) g.Node
}{
	{"notices", writer.notices},
	{"progress", writer.progress},
	{"now", writer.current},
	{"answer", writer.answer},
	{"capacity", writer.capacity},
	{"runs", writer.runs},
	{"seen", writer.lastChange},
}

// document has the report's style and the live page's own. Without scripts, the refresh
// element reloads it.
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

// pageDocument is the page with its rendered parts.
func pageDocument(shown *page, current *state, tag string) g.Node {
	written := make([]g.Node, 0, len(parts))
	for _, one := range parts {
		part := current.Parts[one.name]
		written = append(written, h.Div(h.ID("part-"+one.name), h.Data("digest", part.Digest), g.Raw(part.HTML)))
	}
	again := h.NoScript(h.Meta(g.Attr("http-equiv", "refresh"), h.Content("10")))
	return document(shown.Title, again, h.Body(h.Data("tag", tag), g.If(current.Complete, g.Attr("data-complete")), g.Text("\n"), elements.Lines(
		h.A(h.Class("skip"), h.Href("#main"), g.Text("Skip to current state")),
		h.Div(h.Class("living"), g.Text("\n"), elements.Lines(
			h.Header(g.Text("\n"), elements.Lines(h.H1(g.Text(shown.Title)), h.P(g.Text(shown.Subtitle)))),
			h.P(h.Class("unseen"), h.Role("status"), h.ID("headline"), g.Text(shown.Headline)),
			h.Div(h.ID("offline")),
			h.Main(h.ID("main"), h.TabIndex("-1"), g.Text("\n"), elements.Lines(written...)),
		)),
		h.Script(g.Raw(script)),
	)))
}

func (w writer) notices(p *page) g.Node {
	return elements.Each(p.Notices, func(_ int, one *notice) g.Node {
		return h.Aside(h.Class("banner notice"), h.P(h.Strong(g.Text(one.Title)), g.Text(" "+one.Text)))
	})
}

func (w writer) progress(p *page) g.Node {
	var phase, waits g.Node
	if p.Phase != "" {
		phase = h.P(h.Class("state"), h.Strong(g.Text(p.Phase)))
	}
	if p.Message != "" {
		waits = h.P(h.Class("waits"), g.Text(p.Message))
	}
	return elements.Lines(phase, bar(p.Progress), w.facts(p), waits, problemList(p.Problems))
}

func bar(p *counts) g.Node {
	if p == nil {
		return nil
	}
	return h.Progress(h.Max(digits(p.Planned)), h.Value(digits(p.Done)), h.Aria("label", "Runs done"), fraction(p.Done, p.Planned))
}

func digits(p int32) string { return strconv.Itoa(int(p)) }

func fraction(part, all int32) g.Node { return g.Textf("%d of %d", part, all) }

func (w writer) facts(p *page) g.Node {
	runs := p.Progress
	if runs == nil {
		return nil
	}
	facts := []g.Node{fact("Runs done", fraction(runs.Done, runs.Planned))}
	if runs.Block != 0 {
		facts = append(facts, fact("Block", fraction(runs.Block, runs.Blocks)))
	}
	if runs.Invalid != 0 {
		facts = append(facts, fact("Invalid attempts", g.Text(digits(runs.Invalid))))
	}
	if p.Verdict != "" {
		facts = append(facts, fact("Verdicts", g.Text(p.Verdict)))
	}
	if !p.ExpectedEnd.IsZero() {
		facts = append(facts, fact("Expected to end", g.Group{g.Text("about "), timeElement(p.ExpectedEnd, minute(p.ExpectedEnd, w.now))}))
	}
	return h.Dl(h.Class("facts"), g.Text("\n"), elements.Lines(facts...))
}

func fact(term string, value g.Node) g.Node { return h.Div(h.Dt(g.Text(term)), h.Dd(value)) }

// timeElement shows a time as text.
func timeElement(at time.Time, words string) g.Node {
	return h.Time(h.DateTime(at.UTC().Format(time.RFC3339)), g.Text(words))
}

// clock shows a time, unless it is zero.
func (w writer) clock(at time.Time) g.Node {
	if at.IsZero() {
		return nil
	}
	return timeElement(at, clock(at, w.now))
}

func problemList(p []problem) g.Node {
	if len(p) == 0 {
		return nil
	}
	return h.Ul(h.Class("plain troubles"), g.Text("\n"), elements.Each(p, func(_ int, one *problem) g.Node {
		return h.Li(h.Strong(g.Text(one.Condition)), g.Text(" "), h.Span(g.Text(one.Message)))
	}))
}

// section is a part of the page with its own title.
func section(name, title string, content ...g.Node) g.Node {
	id := name + "-title"
	return h.Section(h.Aria("labelledby", id), elements.Lines(h.H2(h.ID(id), g.Text(title))), elements.Lines(content...))
}

func (w writer) current(p *page) g.Node {
	run := p.Run
	if run == nil {
		return g.Group{}
	}
	return section("now", "Now", stepList(run.Steps), runLabel(run), elements.Text(run.Activity, h.P, h.Class("doing")), w.loads(run), chartList(run.Charts))
}

func stepList(steps []step) g.Node {
	return h.Ol(h.Class("steps"), h.Aria("label", "Steps of the run"), g.Map(steps, func(one step) g.Node {
		return h.Li(g.If(one.Current, g.Attr("aria-current", "step")), g.If(one.Done && !one.Current, h.Class("past")), g.Text(one.Name))
	}))
}

// runLabel names the arm, scenario and block of a run.
func runLabel(run *currentRun) g.Node {
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

// column of a table: numbers are aligned right.
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

func textCell(text string) g.Node { return h.Td(g.Text(text)) }

func numberCell(text string) g.Node { return h.Td(h.Class("n"), g.Text(text)) }

func (w writer) loads(p *currentRun) g.Node {
	if len(p.Loads) == 0 {
		return nil
	}
	columns := []column{{"Load", false}, {"p95 so far", false}, {"Failed so far", true}, {"Users", true}, {"Requests/s", true}}
	if p.Records {
		columns = append(columns, column{"Records", true})
	}
	columns = append(columns, column{"State", false}, column{"Reported", false})
	return table("Loads of the run", "Loads of the run, as last reported", columns, elements.Each(p.Loads, func(_ int, one *loadRow) g.Node {
		percentiles := g.Map(one.P95, func(line string) g.Node { return h.Span(g.Text(line)) })
		return h.Tr(
			h.Th(h.Scope("row"), h.Code(g.Text(one.Name))), h.Td(h.Class("lines"), percentiles),
			numberCell(one.Errors), numberCell(one.Users), numberCell(one.Requests), g.If(p.Records, numberCell(one.Records)),
			textCell(one.State), h.Td(w.clock(one.LastReport)),
		)
	}))
}

func chartList(p []chart) g.Node {
	if len(p) == 0 {
		return nil
	}
	return g.Group{
		elements.Lines(h.Div(h.Class("charts"), g.Text("\n"), elements.Each(p, func(_ int, one *chart) g.Node {
			return h.Figure(h.FigCaption(g.Text(one.Title)), one.SVG)
		}))),
		h.P(h.Class("note"), g.Text("The charts start at the time when this page was first opened during the run.")),
	}
}

func (w writer) answer(p *page) g.Node {
	if p.Card == nil && p.SummaryError == "" {
		return g.Group{}
	}
	return section("answer", "Results so far", elements.Text(p.SummaryError, h.P), p.Card,
		h.P(h.A(h.Href("report"), g.Text("Report so far"))))
}

func (w writer) capacity(p *page) g.Node {
	if len(p.Searches) == 0 {
		return g.Group{}
	}
	return section("capacity", "Capacity so far", g.Map(p.Searches, searchTable))
}

// searchTable has the levels that each run of a scenario visited.
func searchTable(one progress.Search) g.Node {
	title := "Capacity"
	if one.Unit != "" {
		title += ", " + one.Unit
	}
	columns := []column{{"Arm", false}, {"Block", true}, {"Passed levels", false}, {"Failed levels", false}, {title, true}, {"Limited by", false}, {"Remark", false}}
	rows := elements.Each(one.Runs, func(_ int, run *progress.SearchRun) g.Node {
		return h.Tr(
			h.Th(h.Scope("row"), h.Code(g.Text(run.Arm))), numberCell(digits(run.Block)), textCell(levelList(run.Held)), textCell(levelList(run.Failed)),
			numberCell(run.Capacity), textCell(run.Limit), textCell(run.Remark),
		)
	})
	caption := "Levels of " + one.Load + " under " + one.Scenario
	return g.Group{table(caption, caption, columns, rows), omittedRuns(one.Omitted)}
}

func levelList(levels []int32) string {
	var list []string
	for _, level := range levels {
		list = append(list, digits(level))
	}
	return strings.Join(list, ", ")
}

// omittedRuns counts the runs that a table does not list.
func omittedRuns(count int) g.Node {
	if count == 0 {
		return nil
	}
	return h.P(h.Class("note"), g.Text(prose.Counted(count, "earlier run")+prose.Verb(count, " is", " are")+" not listed."))
}

func (w writer) runs(p *page) g.Node {
	if len(p.Runs) == 0 {
		return g.Group{}
	}
	columns := []column{{"Arm", false}, {"Scenario", false}, {"Block", true}, {"Ended", false}, {"Duration", true}, {"Valid", false}}
	rows := elements.Each(p.Runs, func(_ int, one *finishedRun) g.Node {
		return h.Tr(
			h.Th(h.Scope("row"), h.Code(g.Text(one.Arm))), h.Td(h.Code(g.Text(one.Scenario))), numberCell(digits(one.Block)),
			h.Td(w.clock(one.Ended)), numberCell(one.Took), h.Td(validity(one)),
		)
	})
	return section("runs", "Finished runs", table("Finished runs", "Newest first", columns, rows), omittedRuns(p.OmittedRuns))
}

// validity shows whether a run is valid, and the reason if it is not.
func validity(p *finishedRun) g.Node {
	if p.Valid {
		return g.Text("yes")
	}
	return g.Group{h.Span(h.Class("verdict invalid"), g.Text("no")), g.Text(" " + p.Invalid)}
}

func (w writer) lastChange(p *page) g.Node {
	if p.LastChange.IsZero() {
		return g.Group{}
	}
	change := g.Text("Last change")
	if p.Name != "" {
		change = g.Group{h.Code(g.Text(p.Name)), g.Text(", last change")}
	}
	return elements.Lines(h.P(h.Class("note"), change, g.Text(" seen at "), w.clock(p.LastChange), g.Text(".")))
}

// experimentList is the page of all experiments.
func experimentList(items []ListItem) g.Node {
	content := h.P(g.Text("No experiments."))
	if len(items) > 0 {
		columns := []column{{"Experiment", false}, {"Namespace", false}, {"Phase", false}, {"Runs", true}, {"Verdict", false}, {"Message", false}}
		content = table("Experiments", "Each links to its live page, or to its report after it completes", columns, elements.Each(items, func(_ int, one *ListItem) g.Node {
			return h.Tr(
				h.Th(h.Scope("row"), h.A(h.Href(one.Namespace+"/"+one.Name+"/"), g.Text(one.Name))), textCell(one.Namespace),
				textCell(one.Phase), numberCell(one.Progress), textCell(one.Verdict), textCell(one.Message),
			)
		}))
	}
	return document("Experiments", nil, h.Body(g.Text("\n"), elements.Lines(h.Div(h.Class("living"), g.Text("\n"), elements.Lines(
		h.Header(h.H1(g.Text("Experiments"))),
		h.Main(g.Text("\n"), elements.Lines(content)),
	)))))
}
