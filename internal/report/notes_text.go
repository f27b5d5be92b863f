// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"perflab.dev/perflab/internal/text/prose"
)

// markdownParser reads CommonMark with tables. It knows no HTML, so that HTML is text
// like any other, and gives nothing an address or a class.
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

// What a short text can blow up: every row of a table has as many cells as its head,
// lists and quotations stand in each other, and each link is looked for an end of, to
// that of the text.
const (
	maxCells = 10_000
	maxDepth = 40
	maxLinks = 2_000
)

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// parse a note's Markdown, or tell what is wrong with it.
func (n *note) parse(written string) (fault string) {
	written = prose.Printable(lineEnds.Replace(written))
	tooDeep := fmt.Sprintf("its lists and quotations stand in each other more than %d deep", maxDepth)
	switch cells, links := cellsOf(written), strings.Count(written, "]("); {
	case cells > maxCells:
		return fmt.Sprintf("its tables have %d cells, more than the %d that are shown: shorten them", cells, maxCells)
	case links > maxLinks:
		return fmt.Sprintf("it has %d links and pictures, more than the %d that are shown: shorten it", links, maxLinks)
	case opensMore(written, maxDepth):
		return tooDeep
	}
	n.source = []byte(written)
	n.text = markdownParser.Parse(text.NewReader(n.source))
	if depthOf(n.text) > maxDepth {
		return tooDeep
	}
	alignCells(n.text)
	return ""
}

// opener begins a quotation, or an item of a list.
var opener = regexp.MustCompile(`^[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])`)

// opensMore tells whether some line opens more than so many quotations and lists.
func opensMore(written string, most int) bool {
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

// underHead is the line below a table's head.
var underHead = regexp.MustCompile(`^[ \t>|:-]*\|[ \t>|:-]*$`)

// cellsOf all tables, at most. A table ends at an empty line, if not before.
func cellsOf(written string) int {
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

func depthOf(root ast.Node) int {
	deepest, depth := 0, 0
	walk(root, func(_ ast.Node, entering bool) ast.WalkStatus {
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

// walk a tree with a visitor that can't fail.
func walk(root ast.Node, visit func(ast.Node, bool) ast.WalkStatus) {
	err := ast.Walk(root, func(node ast.Node, entering bool) (ast.WalkStatus, error) { return visit(node, entering), nil })
	if err != nil {
		panic(fmt.Sprintf("walking through a note: %v", err))
	}
}

// alignCells gives the cells of tables the attributes that they are written with.
func alignCells(root ast.Node) {
	walk(root, func(node ast.Node, entering bool) ast.WalkStatus {
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

// lettersOf a node are what is left of it without any markup.
func lettersOf(root ast.Node, source []byte) string {
	var out strings.Builder
	walk(root, func(node ast.Node, entering bool) ast.WalkStatus {
		if !entering {
			return ast.WalkContinue
		}
		switch node := node.(type) {
		case *ast.Text:
			out.WriteString(lettersOfText(node, source))
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

// lettersOfText are those that a text stands for, escaped as it may be.
func lettersOfText(node *ast.Text, source []byte) string {
	if node.IsRaw() {
		return string(node.Segment.Value(source))
	}
	return resolved(node.Segment.Value(source))
}

// resolved has no backslashes and entities in it that stand for something else.
func resolved(written []byte) string {
	const small = 64
	var out bytes.Buffer
	escaped := bufio.NewWriterSize(&out, small)
	markup.DefaultWriter.Write(escaped, written)
	_ = escaped.Flush() // A buffer takes every write.
	return html.UnescapeString(out.String())
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

// page is the note as part of the HTML page.
func (n *note) page(pictures bool) string {
	return n.markup(&noteWriter{of: n, below: n.below, isPage: true, picture: func(shown *inset) string {
		if !pictures {
			return escapeXML(shown.leftOut("its size would not leave the page room here; perflab report has it"))
		}
		return `<img src="` + shown.dataURI() + `" alt="` + escapeXML(shown.alt) + `" />`
	}})
}

// wiki is the note as part of a page in Confluence. A section has a heading of the
// first level there.
func (n *note) wiki(pictures bool) string {
	return n.markup(&noteWriter{of: n, below: n.below - 1, picture: func(shown *inset) string {
		if !pictures {
			return escapeXML(shown.told())
		}
		return `<ac:image ac:alt="` + escapeXML(shown.alt) + `"><ri:attachment ri:filename="` + escapeXML(shown.file) + `" /></ac:image>`
	}})
}

// markup has all letters escaped, by the library or by the writer.
func (n *note) markup(own *noteWriter) string {
	engine := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(own, 100),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), 500),
		util.Prioritized(markup.NewRenderer(markup.WithXHTML()), 1000),
	))
	var out bytes.Buffer
	if err := engine.Render(&out, n.source, n.text); err != nil {
		panic(fmt.Sprintf("writing note %q: %v", n.name, err))
	}
	return out.String()
}

// noteWriter writes what goldmark is not to write as it would: what leads out of a note,
// and what the page around it has a say in.
type noteWriter struct {
	of    *note
	below int
	// isPage: it is written for the HTML page.
	isPage bool
	// picture writes one that is there.
	picture func(*inset) string
}

// RegisterFuncs says what is written here.
func (w *noteWriter) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindHeading, w.heading)
	register.Register(ast.KindLink, w.link)
	register.Register(ast.KindAutoLink, w.autoLink)
	register.Register(ast.KindImage, w.image)
	register.Register(ast.KindCodeBlock, w.code)
	register.Register(ast.KindFencedCodeBlock, w.code)
	register.Register(tables.KindTable, w.table)
}

// put has nobody to tell of a write that fails: it is to a buffer.
func put(out util.BufWriter, written string) { _, _ = out.WriteString(written) }

// deepestHeading that HTML and Markdown have.
const deepestHeading = 6

// deeper is the level of a note's heading below that of the page.
func deeper(heading *ast.Heading, below int) int { return min(heading.Level+below, deepestHeading) }

func (w *noteWriter) heading(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := deeper(node.(*ast.Heading), w.below)
	if entering {
		put(out, fmt.Sprintf("<h%d>", level))
	} else {
		put(out, fmt.Sprintf("</h%d>\n", level))
	}
	return ast.WalkContinue, nil
}

// opened is a link's beginning. Whoever is visited is not told by which report.
func (w *noteWriter) opened(address string) string {
	if w.isPage {
		return `<a href="` + escapeXML(address) + `" rel="nofollow noopener noreferrer">`
	}
	return `<a href="` + escapeXML(address) + `">`
}

func (w *noteWriter) link(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	address := addressOf(node.(*ast.Link).Destination)
	switch {
	case address == "":
	case entering:
		put(out, w.opened(address))
	default:
		put(out, "</a>")
	}
	return ast.WalkContinue, nil
}

func (w *noteWriter) autoLink(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link := node.(*ast.AutoLink)
	label := escapeXML(string(link.Label(source)))
	switch address := addressOfAuto(link, source); {
	case !entering:
	case address == "":
		put(out, label)
	default:
		put(out, w.opened(address)+label+"</a>")
	}
	return ast.WalkContinue, nil
}

func (w *noteWriter) image(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if shown := w.of.insets[node.(*ast.Image)]; shown.fault != "" {
		put(out, escapeXML(shown.told()))
	} else {
		put(out, w.picture(shown))
	}
	return ast.WalkSkipChildren, nil
}

func (w *noteWriter) code(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	begin := "<pre><code>"
	if w.isPage {
		// What is too wide is scrolled by keys, too.
		begin = `<pre tabindex="0"><code>`
	}
	put(out, begin+escapeXML(linesOf(node, source))+"</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

func (w *noteWriter) table(out util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	begin, end := "<table>\n", "</table>\n"
	if w.isPage {
		begin = `<div class="scroll" tabindex="0" role="group" aria-label="Table of note ` + escapeXML(w.of.name) + `">` + begin
		end += "</div>\n"
	}
	if entering {
		put(out, begin)
	} else {
		put(out, end)
	}
	return ast.WalkContinue, nil
}
