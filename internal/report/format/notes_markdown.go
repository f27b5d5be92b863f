// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"perflab.dev/perflab/internal/report/document"
)

// MarkdownNote is the note in Markdown, as a quotation below its label. It is rewritten from its
// syntax tree, so that no other parser finds more in it: no HTML, no other links, no headings
// above those of the page.
func MarkdownNote(n *document.Markdown, folder string) string {
	label := "**" + EscapeMarkdown(n.Label) + "**"
	if n.Excuse != "" {
		return prefixLines("> ", "> ", label+"\n\n"+EscapeMarkdown(n.Excuse))
	}
	writer := markdownNote{of: n, folder: folder}
	return prefixLines("> ", "> ", label+"\n\n"+writer.blocks(n.Tree, "\n\n"))
}

// markdownNote writes a note. Pictures are in the folder; without one, none are shown.
type markdownNote struct {
	of     *document.Markdown
	folder string
}

// blocks writes the blocks within another one, with a separator.
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
		return strings.Repeat("#", headingLevel(node, m.of.Below)) + " " + oneLine(m.inline(node))
	case *ast.ThematicBreak:
		return "***"
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		code := strings.TrimSuffix(codeLines(node, m.of.Source), "\n") + "\n"
		return codeFence(code) + "\n" + code + codeFence(code)
	case *ast.Blockquote:
		return prefixLines("> ", "> ", m.blocks(node, "\n\n"))
	case *ast.List:
		return m.list(node)
	case *tables.Table:
		return m.table(node)
	default:
		return escapeLineStarts(m.inline(node))
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
		items = append(items, prefixLines(mark, strings.Repeat(" ", len(mark)), m.blocks(item, between)))
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

// inline writes the text of a line, with its markup.
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
		return EscapeMarkdown(document.TextValue(node, source)) + lineEnd(node)
	case *ast.String:
		return EscapeMarkdown(string(node.Value))
	case *ast.CodeSpan:
		return codeSpan(spanText(node, source), node)
	case *ast.Emphasis:
		mark := strings.Repeat("*", node.Level)
		return mark + m.inline(node) + mark
	case *ast.Link:
		if address := safeAddress(node.Destination); address != "" {
			return "[" + m.inline(node) + "](<" + address + ">)"
		}
		return m.inline(node)
	case *ast.AutoLink:
		label := EscapeMarkdown(string(node.Label(source)))
		if address := autoLinkAddress(node, source); address != "" {
			return "[" + label + "](<" + address + ">)"
		}
		return label
	case *ast.Image:
		return m.picture(m.of.Insets[node])
	default:
		return m.inline(node)
	}
}

func (m markdownNote) picture(shown *document.Inset) string {
	if shown.Fault != "" || m.folder == "" {
		return EscapeMarkdown(shown.Text())
	}
	return "![" + EscapeMarkdown(shown.Alt) + "](" + m.folder + "/" + shown.File + ")"
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

// spanText is the code of a span, in one line.
func spanText(span *ast.CodeSpan, source []byte) string {
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

// codeSpan encloses code in more backticks than it contains in sequence.
func codeSpan(code string, span ast.Node) string {
	mark := "`"
	for strings.Contains(code, mark) {
		mark += "`"
	}
	if strings.HasPrefix(code, "`") || strings.HasSuffix(code, "`") {
		code = " " + code + " "
	}
	if isInCell(span) {
		// A parser splits a table into cells before it parses code.
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

// lineStart matches text that would start another block at the beginning of a line.
var lineStart = regexp.MustCompile(`(?m)^([-+=]|\d+[.)])`)

// escapeLineStarts keeps the lines part of their paragraph.
func escapeLineStarts(text string) string {
	return lineStart.ReplaceAllStringFunc(text, func(found string) string {
		last := len(found) - 1
		return found[:last] + `\` + found[last:]
	})
}

// prefixLines puts a prefix before the first line of a text, and another before each further one.
func prefixLines(first, further, text string) string {
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

// safeAddress is the address of a link; empty if a report must not link there.
func safeAddress(destination []byte) string {
	address := string(util.URLEscape(destination, true))
	parsed, err := url.Parse(address)
	if err != nil || strings.ContainsAny(address, " <>\"'`|\\") {
		return ""
	}
	// Some readers recognize schemes only in lower case.
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

// autoLinkAddress is the address of a link whose text is its address.
func autoLinkAddress(link *ast.AutoLink, source []byte) string {
	address := link.URL(source)
	if link.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(address), []byte("mailto:")) {
		address = append([]byte("mailto:"), address...)
	}
	return safeAddress(address)
}

// codeLines is the text of a code block.
func codeLines(node ast.Node, source []byte) string {
	var out strings.Builder
	lines := node.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		out.Write(line.Value(source))
	}
	return out.String()
}

// deepestHeading is the deepest level of headings in HTML and Markdown.
const deepestHeading = 6

// headingLevel is the level of a note's heading below that of the page.
func headingLevel(heading *ast.Heading, below int) int {
	return min(heading.Level+below, deepestHeading)
}
