// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"perflab.dev/perflab/internal/prose"
)

// Markdown is the page as GitHub and most wikis read it. With charts, it shows
// the files of Charts and Pictures, looked for in that folder; without, it names none.
func (r *Report) Markdown(charts string) ([]byte, error) {
	parsed, err := template.New("page.md").Funcs(template.FuncMap{
		"md": escapeMarkdown, "cell": markdownCell, "fence": fence, "rule": markdownRule, "add": func(a, b int) int { return a + b },
		"charts":  func() string { return strings.TrimSuffix(charts, "/") },
		"written": func(n *note) string { return n.markdown(strings.TrimSuffix(charts, "/")) },
	}).ParseFS(templates, "templates/page.md")
	if err != nil {
		return nil, fmt.Errorf("reading the template page.md: %w", err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, r.page); err != nil {
		return nil, fmt.Errorf("writing page.md: %w", err)
	}
	return []byte(prose.Printable(out.String())), nil
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
