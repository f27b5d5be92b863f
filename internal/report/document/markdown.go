// SPDX-License-Identifier: Apache-2.0

package document

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"perflab.dev/perflab/internal/text/prose"
)

// Markdown is a text in Markdown, with a label above it.
type Markdown struct {
	// Name is how a sentence refers to the text.
	Name  string
	Label string
	// Excuse replaces an omitted text; empty if the text is shown.
	Excuse string
	// Below is the level of the heading above the text.
	Below int
	// Source is the Markdown, Tree its syntax tree.
	Source []byte
	Tree   ast.Node
	// Insets are the pictures, by their nodes.
	Insets map[*ast.Image]*Inset
}

// markdownParser reads CommonMark with tables. Without support for HTML, it treats HTML as text,
// and gives no element an address or a class.
var markdownParser = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	),
	parser.WithParagraphTransformers(
		util.Prioritized(parser.LinkReferenceParagraphTransformer, 100),
		util.Prioritized(extension.NewTableParagraphTransformer(), 200),
	),
	parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
)

// Limits on what a short text can inflate: every row of a table has as many cells as its header,
// lists and quotations nest, and the parser searches the rest of the text for the end of each
// link.
const (
	maxCells = 10_000
	maxDepth = 40
	maxLinks = 2_000
)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// Parse reads CommonMark with tables, or returns what is wrong with it.
func (m *Markdown) Parse(written string) (fault string) {
	written = prose.Printable(lineEnds.Replace(written))
	tooDeep := fmt.Sprintf("its lists and quotations are nested more than %d levels deep", maxDepth)
	switch cells, links := countCells(written), strings.Count(written, "]("); {
	case cells > maxCells:
		return fmt.Sprintf("its tables have %d cells, more than the limit of %d: shorten them", cells, maxCells)
	case links > maxLinks:
		return fmt.Sprintf("it has %d links and pictures, more than the limit of %d: shorten it", links, maxLinks)
	case opensMoreThan(written, maxDepth):
		return tooDeep
	}
	m.Source = []byte(written)
	m.Tree = markdownParser.Parse(text.NewReader(m.Source))
	if treeDepth(m.Tree) > maxDepth {
		return tooDeep
	}
	alignCells(m.Tree)
	return ""
}

// opener starts a quotation or a list item.
var opener = regexp.MustCompile(`^[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])`)

// opensMoreThan reports whether a line opens more than that many quotations and lists.
func opensMoreThan(written string, most int) bool {
	for line := range strings.SplitSeq(written, "\n") {
		for opened := 0; ; opened++ {
			found := opener.FindString(line)
			if found == "" {
				break
			}
			if opened == most {
				return true
			}
			line = line[len(found):]
		}
	}
	return false
}

// underHead is the line below a table's header.
var underHead = regexp.MustCompile(`^[ \t>|:-]*\|[ \t>|:-]*$`)

// countCells returns an upper bound for the cells of all tables. A table ends at an empty line,
// if not earlier.
func countCells(written string) int {
	cells, lines, widest := 0, 0, 0
	for line := range strings.SplitSeq(written+"\n", "\n") {
		if strings.Trim(line, " \t") == "" {
			cells, lines, widest = cells+lines*widest, 0, 0
			continue
		}
		lines++
		if underHead.MatchString(line) {
			widest = max(widest, strings.Count(line, "|")+1)
		}
	}
	return cells
}

func treeDepth(root ast.Node) int {
	deepest, depth := 0, 0
	walkTree(root, func(_ ast.Node, entering bool) ast.WalkStatus {
		if !entering {
			depth--
			return ast.WalkContinue
		}
		depth++
		deepest = max(deepest, depth)
		return ast.WalkContinue
	})
	return deepest
}

// walkTree walks a tree with a visitor that can't fail.
func walkTree(root ast.Node, visit func(ast.Node, bool) ast.WalkStatus) {
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) { return visit(node, entering), nil })
	if err != nil {
		panic(fmt.Sprintf("walking through Markdown: %v", err))
	}
}

// alignCells sets the attributes of table cells.
func alignCells(root ast.Node) {
	walkTree(root, func(node ast.Node, entering bool) ast.WalkStatus {
		cell, is := node.(*tables.TableCell)
		if !is || !entering {
			return ast.WalkContinue
		}
		if cell.Parent().Kind() == tables.KindTableHeader {
			cell.SetAttributeString("scope", []byte("col"))
		}
		if cell.Alignment != tables.AlignNone {
			cell.SetAttributeString("style", []byte("text-align: "+cell.Alignment.String()+";"))
		}
		return ast.WalkContinue
	})
}

// nodeText is the text of a node without markup.
func nodeText(root ast.Node, source []byte) string {
	var out strings.Builder
	walkTree(root, func(node ast.Node, entering bool) ast.WalkStatus {
		if !entering {
			return ast.WalkContinue
		}
		switch node := node.(type) {
		case *ast.Text:
			out.WriteString(TextValue(node, source))
			if node.SoftLineBreak() || node.HardLineBreak() {
				out.WriteByte(' ')
			}
		case *ast.String:
			out.Write(node.Value)
		case *ast.AutoLink:
			out.Write(node.Label(source))
		}
		return ast.WalkContinue
	})
	return strings.TrimSpace(out.String())
}

// TextValue is a text without escapes.
func TextValue(node *ast.Text, source []byte) string {
	if node.IsRaw() {
		return string(node.Segment.Value(source))
	}
	return unescape(node.Segment.Value(source))
}

// unescape resolves backslash escapes and entities.
func unescape(written []byte) string {
	const small = 64
	var out bytes.Buffer
	escaped := bufio.NewWriterSize(&out, small)
	markup.DefaultWriter.Write(escaped, written)
	_ = escaped.Flush() // A buffer takes every write.
	return html.UnescapeString(out.String())
}

// Illustrate finds the inset of each picture in the text, by its address and its description.
func (m *Markdown) Illustrate(find func(address, alt string) *Inset) {
	m.Insets = map[*ast.Image]*Inset{}
	walkTree(m.Tree, func(node ast.Node, entering bool) ast.WalkStatus {
		image, is := node.(*ast.Image)
		if !is || !entering {
			return ast.WalkContinue
		}
		m.Insets[image] = find(unescape(image.Destination), nodeText(image, m.Source))
		return ast.WalkSkipChildren
	})
}
