// SPDX-License-Identifier: Apache-2.0

package format

import (
	"fmt"
	"html"
	"strings"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/prose"
)

// Markdown writes a page as GitHub and most wikis read it. With a folder of charts, it shows the
// files of charts and insets from there; without one, it refers to none.
func Markdown(page *document.Document, charts string) []byte {
	w := &markdownWriter{charts: strings.TrimSuffix(charts, "/")}
	w.page(page)
	return []byte(prose.Printable(w.out.String()))
}

// markdownWriter writes a page's parts one after the other.
type markdownWriter struct {
	out    strings.Builder
	charts string
}

// linef writes a line; the caller escapes third-party text.
func (w *markdownWriter) linef(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

func (w *markdownWriter) page(of *document.Document) {
	w.linef("# %s\n\n%s\n", EscapeMarkdown(of.Title), EscapeMarkdown(of.Subtitle))
	w.card(&of.Card)
	for i := range of.Sections {
		w.linef("\n## %s", EscapeMarkdown(of.Sections[i].Title))
		for j := range of.Sections[i].Blocks {
			w.linef("")
			w.block(&of.Sections[i].Blocks[j])
		}
	}
}

func (w *markdownWriter) card(of *document.Card) {
	if of.Banner != nil {
		w.linef("> **%s**", EscapeMarkdown(of.Banner.Title))
		for _, sentence := range of.Banner.Sentences {
			w.linef(">\n> %s", EscapeMarkdown(sentence))
		}
		w.linef("")
	}
	if of.Sentence != "" {
		w.linef("> %s\n", EscapeMarkdown(of.Sentence))
	}
	if len(of.Chips) > 0 {
		chips := make([]string, 0, len(of.Chips))
		for _, chip := range of.Chips {
			chips = append(chips, "**"+EscapeMarkdown(chip.Text)+"**")
		}
		w.linef("%s\n", strings.Join(chips, " · "))
	}
	if len(of.Figures) > 0 {
		for _, one := range of.Figures {
			w.linef("- **%s:** %s", EscapeMarkdown(one.Status), EscapeMarkdown(one.Text))
		}
		w.linef("")
	}
	w.linef("%s", EscapeMarkdown(of.Detail))
	if len(of.Remarks) > 0 {
		w.linef("\n%s\n", of.RemarksTitle)
		w.list(document.Items(of.Remarks))
	}
	if of.Footer != "" {
		w.linef("\n%s", EscapeMarkdown(of.Footer))
	}
}

func (w *markdownWriter) block(of *document.Block) {
	switch {
	case of.Heading != "":
		w.linef("### %s", EscapeMarkdown(of.Heading))
	case of.Text != "":
		w.linef("%s", EscapeMarkdown(of.Text))
	case of.List != nil:
		w.list(of.List)
	case of.Steps != nil:
		for i, step := range of.Steps {
			w.linef("%d. %s", i+1, EscapeMarkdown(step))
		}
	case of.Table != nil:
		w.table(of.Table)
	case of.Charts != nil:
		w.pictures(of.Charts)
	case of.Markdown != nil:
		w.linef("%s", MarkdownNote(of.Markdown, w.charts))
	case of.Code != "":
		around := codeFence(of.Code)
		w.linef("<details><summary>%s</summary>\n\n%syaml\n%s%s\n\n</details>", html.EscapeString(of.CodeTitle), around, of.Code, around)
	case of.Commands != "":
		w.linef("```console\n%s\n```", of.Commands)
	}
}

func (w *markdownWriter) list(of []document.Item) {
	for _, one := range of {
		verdict := ""
		if one.Status != "" {
			verdict = "**" + EscapeMarkdown(one.Status) + ":** "
		}
		w.linef("- %s%s", verdict, EscapeMarkdown(one.Text))
	}
}

func (w *markdownWriter) pictures(of []document.Chart) {
	if w.charts == "" {
		return
	}
	for i := range of {
		w.linef("![%s](%s/%s.svg)", EscapeMarkdown(of[i].Alt), w.charts, of[i].Name)
	}
}

func (w *markdownWriter) table(of *document.Table) {
	if of.Folded {
		w.linef("<details><summary>%s</summary>\n", html.EscapeString(of.Caption))
	} else {
		w.linef("**%s**\n", EscapeMarkdown(of.Caption))
	}
	writeRow(w, of.Columns, func(one document.Column) string { return EscapeMarkdown(one.Title) })
	writeRow(w, of.Columns, markdownRule)
	for i := range of.Rows {
		writeRow(w, of.Rows[i].Cells, markdownCell)
	}
	if of.More > 0 {
		w.linef("\n%s", of.MoreText())
	}
	if of.Note != "" {
		w.linef("\n%s", EscapeMarkdown(of.Note))
	}
	if of.Folded {
		w.linef("\n</details>")
	}
}

func writeRow[T any](w *markdownWriter, cells []T, text func(T) string) {
	w.out.WriteString("|")
	for _, one := range cells {
		w.out.WriteString(" " + text(one) + " |")
	}
	w.out.WriteString("\n")
}

func markdownCell(one document.Cell) string {
	switch {
	case one.Status != "":
		return "**" + EscapeMarkdown(one.Text) + "**"
	case one.Name && one.Text != "" && !strings.ContainsAny(one.Text, "`|\n\r\\"):
		return "`" + one.Text + "`"
	}
	return EscapeMarkdown(one.Text)
}

// markdownRule is the line below a table's header: numbers are aligned right.
func markdownRule(one document.Column) string {
	if one.Number {
		return "---:"
	}
	return "---"
}
