// SPDX-License-Identifier: Apache-2.0

package format

import (
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/report/elements"
)

// Card is the page's answer at a glance.
func Card(of *document.Card) g.Node {
	return h.Div(h.Class("card"), g.Text("\n"), elements.Lines(
		bannerPart(of.Banner),
		elements.Text(of.Sentence, h.P, h.Class(answerClass(of.Sentence))),
		chipsPart(of.Chips),
		h.P(h.Class("sure"), g.Text(of.Detail)),
		remarksPart(of.RemarksTitle, of.Remarks),
		elements.Text(of.Footer, h.P, h.Class("sure")),
		figuresAndChart(of),
	))
}

// answerClass makes a long answer smaller, to leave room on the first screen.
func answerClass(sentence string) string {
	const many = 250
	if len(sentence) > many {
		return "answer long"
	}
	return "answer"
}

func bannerPart(of *document.Banner) g.Node {
	if of == nil {
		return nil
	}
	return h.Aside(h.Class("banner"), h.Aria("labelledby", "banner-title"),
		elements.Lines(h.P(h.ID("banner-title"), h.Strong(g.Text(of.Title)))),
		elements.Each(of.Sentences, func(_ int, sentence *string) g.Node { return h.P(g.Text(*sentence)) }))
}

func remarksPart(title string, of []string) g.Node {
	if len(of) == 0 {
		return nil
	}
	return h.Div(h.Class("sure"), h.P(g.Text(title)), h.Ul(g.Map(of, func(one string) g.Node { return h.Li(g.Text(one)) })))
}

func chipsPart(of []document.Item) g.Node {
	if len(of) == 0 {
		return nil
	}
	return h.Ul(h.Class("chips"), g.Map(of, func(one document.Item) g.Node {
		return h.Li(h.Class("chip "+Class(one.Status)), g.Text(one.Text))
	}))
}

// figuresAndChart is the figures beside the chart.
func figuresAndChart(of *document.Card) g.Node {
	classes := "look"
	if len(of.Figures) == 0 {
		classes = "look alone"
	}
	var hero g.Node
	if of.Chart != nil {
		hero = h.Figure(h.Class("hero"), h.ID("hero"), titledChart(of.Chart))
	}
	return h.Div(h.Class(classes), g.Text("\n"), elements.Lines(figuresPart(of), hero))
}

func figuresPart(of *document.Card) g.Node {
	if len(of.Figures) == 0 {
		return nil
	}
	return h.Div(h.Class("figures"), g.Text("\n"), elements.Each(of.Figures, figurePart), elements.Lines(h.P(h.Class("label"), g.Text(of.Legend))))
}

func figurePart(_ int, of *document.Figure) g.Node {
	var sketch g.Node
	if of.SVG != "" {
		sketch = Drawing(of.SVG, of.Text)
	}
	return h.Div(h.Class("figure"),
		h.P(h.Class("label"), g.Text(of.Label)),
		h.P(h.Class("number"), statusLabel(of.Status, of.Delta), g.Text(" "),
			h.Span(h.Class("values"), g.Text(of.Values)), g.Text(" "), h.Span(h.Class("values faint"), g.Text("("+of.Interval+")"))),
		sketch)
}
