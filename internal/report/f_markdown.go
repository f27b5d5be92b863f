// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"html"
	"strings"

	"perflab.dev/perflab/internal/text/prose"
)

// formatMarkdown writes a page as GitHub and most wikis read it. With charts, it shows the
// files of charts and insets from that folder; without, it names none.
func formatMarkdown(page *document, charts string) []byte {
	w := &markdownWriter{charts: strings.TrimSuffix(charts, "/")}
	w.page(page)
	return []byte(prose.Printable(w.out.String()))
}

// markdownWriter writes a page's parts one after the other.
type markdownWriter struct {
	out    strings.Builder
	charts string
}

// linef writes a line; what others have said is to be escaped before.
func (w *markdownWriter) linef(format string, args ...any) { fmt.Fprintf(&w.out, format+"\n", args...) }

func (w *markdownWriter) page(of *document) {
	w.linef("# %s\n\n%s\n", escapeMarkdown(of.Title), escapeMarkdown(of.Subtitle))
	w.card(&of.Card)
	for i := range of.Sections {
		w.linef("\n## %s", escapeMarkdown(of.Sections[i].Title))
		for j := range of.Sections[i].Blocks {
			w.linef("")
			w.block(&of.Sections[i].Blocks[j])
		}
	}
}

func (w *markdownWriter) card(of *card) {
	if of.Banner != nil {
		w.linef("> **%s**", escapeMarkdown(of.Banner.Title))
		for _, sentence := range of.Banner.Sentences {
			w.linef(">\n> %s", escapeMarkdown(sentence))
		}
		w.linef("")
	}
	if of.Sentence != "" {
		w.linef("> %s\n", escapeMarkdown(of.Sentence))
	}
	if len(of.Chips) > 0 {
		chips := make([]string, 0, len(of.Chips))
		for _, chip := range of.Chips {
			chips = append(chips, "**"+escapeMarkdown(chip.Text)+"**")
		}
		w.linef("%s\n", strings.Join(chips, " · "))
	}
	if len(of.Figures) > 0 {
		for _, one := range of.Figures {
			w.linef("- **%s:** %s", escapeMarkdown(one.Verdict), escapeMarkdown(one.Text))
		}
		w.linef("")
	}
	w.linef("%s", escapeMarkdown(of.Detail))
	if len(of.Remarks) > 0 {
		w.linef("\n%s\n", of.RemarksTitle)
		w.list(listOf(of.Remarks))
	}
	if of.Footer != "" {
		w.linef("\n%s", escapeMarkdown(of.Footer))
	}
}

func (w *markdownWriter) block(of *block) {
	switch {
	case of.Heading != "":
		w.linef("### %s", escapeMarkdown(of.Heading))
	case of.Text != "":
		w.linef("%s", escapeMarkdown(of.Text))
	case of.List != nil:
		w.list(of.List)
	case of.Steps != nil:
		for i, step := range of.Steps {
			w.linef("%d. %s", i+1, escapeMarkdown(step))
		}
	case of.Table != nil:
		w.table(of.Table)
	case of.Charts != nil:
		w.pictures(of.Charts)
	case of.Markdown != nil:
		w.linef("%s", noteInMarkdown(of.Markdown, w.charts))
	case of.Code != "":
		around := fence(of.Code)
		w.linef("<details><summary>%s</summary>\n\n%syaml\n%s%s\n\n</details>", html.EscapeString(of.CodeTitle), around, of.Code, around)
	case of.Commands != "":
		w.linef("```console\n%s\n```", of.Commands)
	}
}

func (w *markdownWriter) list(of []item) {
	for _, one := range of {
		verdict := ""
		if one.Verdict != "" {
			verdict = "**" + escapeMarkdown(one.Verdict) + ":** "
		}
		w.linef("- %s%s", verdict, escapeMarkdown(one.Text))
	}
}

func (w *markdownWriter) pictures(of []chart) {
	if w.charts == "" {
		return
	}
	for i := range of {
		w.linef("![%s](%s/%s.svg)", escapeMarkdown(of[i].Alt), w.charts, of[i].Name)
	}
}

func (w *markdownWriter) table(of *table) {
	if of.Folded {
		w.linef("<details><summary>%s</summary>\n", html.EscapeString(of.Caption))
	} else {
		w.linef("**%s**\n", escapeMarkdown(of.Caption))
	}
	writeRow(w, of.Columns, func(one column) string { return escapeMarkdown(one.Title) })
	writeRow(w, of.Columns, markdownRule)
	for i := range of.Rows {
		writeRow(w, of.Rows[i].Cells, markdownCell)
	}
	if of.More > 0 {
		w.linef("\n%s", of.Left())
	}
	if of.Note != "" {
		w.linef("\n%s", escapeMarkdown(of.Note))
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

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"|", `\|`, "~", `\~`, "#", `\#`, "\n", " ", "\r", " ",
)

// escapeMarkdown lets a text stand for itself: no markup, no HTML.
func escapeMarkdown(text string) string { return markdownEscapes.Replace(text) }

func markdownCell(one cell) string {
	switch {
	case one.Verdict != "":
		return "**" + escapeMarkdown(one.Text) + "**"
	case one.Name && one.Text != "" && !strings.ContainsAny(one.Text, "`|\n\r\\"):
		return "`" + one.Text + "`"
	}
	return escapeMarkdown(one.Text)
}

// fence is longer than any row of backticks in the text it goes around.
func fence(text string) string {
	result := "```"
	for strings.Contains(text, result) {
		result += "`"
	}
	return result
}

// markdownRule is what stands below a table's header: numbers flush right.
func markdownRule(one column) string {
	if one.Number {
		return "---:"
	}
	return "---"
}
