// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// noteInMarkdown is the note in Markdown, as a quotation below its label. It is written anew
// from what was read of it, so that another reader of Markdown finds nothing else in it:
// no HTML, no link that is not followed here, no heading above those of the page.
func noteInMarkdown(n *Markdown, folder string) string {
	label := "**" + escapeMarkdown(n.Label) + "**"
	if n.Excuse != "" {
		return prefixed("> ", "> ", label+"\n\n"+escapeMarkdown(n.Excuse))
	}
	writer := markdownNote{of: n, folder: folder}
	return prefixed("> ", "> ", label+"\n\n"+writer.blocks(n.Tree, "\n\n"))
}

// markdownNote writes a note. Pictures are in the folder; without one, none are shown.
type markdownNote struct {
	of     *Markdown
	folder string
}

// blocks that stand in another one, with so much between them.
func (m markdownNote) blocks(parent ast.Node, between string) string {
	var parts []string
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		parts = append(parts, m.block(node))
	}
	return strings.Join(parts, between)
}

func (m markdownNote) block(node ast.Node) string {
	switch node := node.(type) {
	case *ast.Heading:
		return strings.Repeat("#", deeper(node, m.of.Below)) + " " + oneLine(m.inline(node))
	case *ast.ThematicBreak:
		return "***"
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		code := strings.TrimSuffix(linesOf(node, m.of.Source), "\n") + "\n"
		return fence(code) + "\n" + code + fence(code)
	case *ast.Blockquote:
		return prefixed("> ", "> ", m.blocks(node, "\n\n"))
	case *ast.List:
		return m.list(node)
	case *tables.Table:
		return m.table(node)
	default:
		return asText(m.inline(node))
	}
}

func (m markdownNote) list(list *ast.List) string {
	between := "\n\n"
	if list.IsTight {
		between = "\n"
	}
	var items []string
	for item, number := list.FirstChild(), list.Start; item != nil; item, number = item.NextSibling(), number+1 {
		mark := "- "
		if list.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
		}
		items = append(items, prefixed(mark, strings.Repeat(" ", len(mark)), m.blocks(item, between)))
	}
	return strings.Join(items, between)
}

var alignments = map[tables.Alignment]string{tables.AlignLeft: ":---", tables.AlignRight: "---:", tables.AlignCenter: ":---:", tables.AlignNone: "---"}

func (m markdownNote) table(table *tables.Table) string {
	var lines []string
	for row := table.FirstChild(); row != nil; row = row.NextSibling() {
		line, under := "|", "|"
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			line += " " + oneLine(m.inline(cell)) + " |"
			under += " " + alignments[cell.(*tables.TableCell).Alignment] + " |"
		}
		lines = append(lines, line)
		if row.Kind() == tables.KindTableHeader {
			lines = append(lines, under)
		}
	}
	return strings.Join(lines, "\n")
}

// inline is what stands in a line: words, and what is made of them.
func (m markdownNote) inline(parent ast.Node) string {
	var out strings.Builder
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		out.WriteString(m.words(node))
	}
	return out.String()
}

func (m markdownNote) words(node ast.Node) string {
	source := m.of.Source
	switch node := node.(type) {
	case *ast.Text:
		return escapeMarkdown(PlainText(node, source)) + lineEnd(node)
	case *ast.String:
		return escapeMarkdown(string(node.Value))
	case *ast.CodeSpan:
		return codeSpan(codeOf(node, source), node)
	case *ast.Emphasis:
		mark := strings.Repeat("*", node.Level)
		return mark + m.inline(node) + mark
	case *ast.Link:
		if address := addressOf(node.Destination); address != "" {
			return "[" + m.inline(node) + "](<" + address + ">)"
		}
		return m.inline(node)
	case *ast.AutoLink:
		label := escapeMarkdown(string(node.Label(source)))
		if address := addressOfAuto(node, source); address != "" {
			return "[" + label + "](<" + address + ">)"
		}
		return label
	case *ast.Image:
		return m.picture(m.of.Insets[node])
	default:
		return m.inline(node)
	}
}

func (m markdownNote) picture(shown *Inset) string {
	if shown.Fault != "" || m.folder == "" {
		return escapeMarkdown(shown.Told())
	}
	return "![" + escapeMarkdown(shown.Alt) + "](" + m.folder + "/" + shown.File + ")"
}

func lineEnd(node *ast.Text) string {
	switch {
	case node.HardLineBreak():
		return "\\\n"
	case node.SoftLineBreak():
		return "\n"
	}
	return ""
}

// codeOf a span, in one line.
func codeOf(span *ast.CodeSpan, source []byte) string {
	var out strings.Builder
	for node := span.FirstChild(); node != nil; node = node.NextSibling() {
		switch node := node.(type) {
		case *ast.Text:
			out.Write(node.Segment.Value(source))
		case *ast.String:
			out.Write(node.Value)
		}
	}
	return strings.ReplaceAll(out.String(), "\n", " ")
}

// codeSpan is between more backticks than stand together in it.
func codeSpan(code string, span ast.Node) string {
	mark := "`"
	for strings.Contains(code, mark) {
		mark += "`"
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	if isInCell(span) {
		// A table is cut into cells before its code is looked at.
		code = strings.ReplaceAll(code, "|", `\|`)
	}
	return mark + code + mark
}

func isInCell(node ast.Node) bool {
	for at := node.Parent(); at != nil; at = at.Parent() {
		if at.Kind() == tables.KindTableCell {
			return true
		}
	}
	return false
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\\\n", " ")), " ")
}

// opening is what a line of text would begin something else with.
var opening = regexp.MustCompile(`(?m)^([-+=]|\d+[.)])`)

// asText lets lines be those of a paragraph.
func asText(text string) string {
	return opening.ReplaceAllStringFunc(text, func(found string) string {
		last := len(found) - 1
		return found[:last] + `\` + found[last:]
	})
}

// prefixed puts something before the first line of a text, and before each further one.
func prefixed(first, further, text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		prefix := further
		if i == 0 {
			prefix = first
		}
		lines[i] = strings.TrimRight(prefix+lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// addressOf a link; empty: it leads where a report leads nobody.
func addressOf(destination []byte) string {
	address := string(util.URLEscape(destination, true))
	parsed, err := url.Parse(address)
	if err != nil || strings.ContainsAny(address, " <>\"'`|\\") {
		return ""
	}
	// Not every reader knows it however it is written.
	address = parsed.Scheme + address[len(parsed.Scheme):]
	switch parsed.Scheme {
	case "http", "https":
		if parsed.Host != "" {
			return address
		}
	case "mailto":
		return address
	}
	return ""
}

// addressOfAuto is that of a link that is its own text.
func addressOfAuto(link *ast.AutoLink, source []byte) string {
	address := link.URL(source)
	if link.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(address), []byte("mailto:")) {
		address = append([]byte("mailto:"), address...)
	}
	return addressOf(address)
}

// linesOf a block of code.
func linesOf(node ast.Node, source []byte) string {
	var out strings.Builder
	lines := node.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		out.Write(line.Value(source))
	}
	return out.String()
}

// deepestHeading that HTML and Markdown have.
const deepestHeading = 6

// deeper is the level of a note's heading below that of the page.
func deeper(heading *ast.Heading, below int) int { return min(heading.Level+below, deepestHeading) }
