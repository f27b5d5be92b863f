// SPDX-License-Identifier: Apache-2.0

package format

import (
	"bytes"
	"fmt"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
)

// HTMLNote is the note as part of the HTML page.
func HTMLNote(n *document.Markdown, pictures bool) string {
	return renderNote(n, &noteWriter{of: n, below: n.Below, isPage: true, picture: func(shown *document.Inset) string {
		if !pictures {
			return chart.EscapeXML(shown.TextWithReason("omitted here because of its size; perflab report shows it"))
		}
		return `<img src="` + shown.DataURI() + `" alt="` + chart.EscapeXML(shown.Alt) + `" />`
	}})
}

// ConfluenceNote is the note as part of a page in Confluence, where sections have headings of the
// first level.
func ConfluenceNote(n *document.Markdown, pictures bool) string {
	return renderNote(n, &noteWriter{of: n, below: n.Below - 1, picture: func(shown *document.Inset) string {
		if !pictures {
			return chart.EscapeXML(shown.Text())
		}
		return `<ac:image ac:alt="` + chart.EscapeXML(shown.Alt) + `"><ri:attachment ri:filename="` + chart.EscapeXML(shown.File) + `" /></ac:image>`
	}})
}

// renderNote renders the note. The library or the writer escapes all text.
func renderNote(n *document.Markdown, own *noteWriter) string {
	engine := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(own, 100),
		util.Prioritized(extension.NewTableHTMLRenderer(extension.WithTableCellAlignMethod(extension.TableCellAlignNone)), 500),
		util.Prioritized(markup.NewRenderer(markup.WithXHTML()), 1000),
	))
	var out bytes.Buffer
	if err := engine.Render(&out, n.Source, n.Tree); err != nil {
		panic(fmt.Sprintf("writing %s: %v", n.Name, err))
	}
	return out.String()
}

// noteWriter replaces goldmark's output for elements that link out of a note or depend on the
// page around it.
type noteWriter struct {
	of    *document.Markdown
	below int
	// isPage means that the output is the HTML page.
	isPage bool
	// picture writes a valid picture.
	picture func(*document.Inset) string
}

// RegisterFuncs registers the elements that noteWriter writes.
func (w *noteWriter) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindHeading, w.heading)
	register.Register(ast.KindLink, w.link)
	register.Register(ast.KindAutoLink, w.autoLink)
	register.Register(ast.KindImage, w.image)
	register.Register(ast.KindCodeBlock, w.code)
	register.Register(ast.KindFencedCodeBlock, w.code)
	register.Register(tables.KindTable, w.table)
}

// writeString ignores errors: a write to a buffer does not fail.
func writeString(out util.BufWriter, written string) { _, _ = out.WriteString(written) }

func (w *noteWriter) heading(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := headingLevel(node.(*ast.Heading), w.below)
	if entering {
		writeString(out, fmt.Sprintf("<h%d>", level))
	} else {
		writeString(out, fmt.Sprintf("</h%d>\n", level))
	}
	return ast.WalkContinue, nil
}

// linkStart is the start tag of a link. It hides the report's address from the linked site.
func (w *noteWriter) linkStart(address string) string {
	if w.isPage {
		return `<a href="` + chart.EscapeXML(address) + `" rel="nofollow noopener noreferrer">`
	}
	return `<a href="` + chart.EscapeXML(address) + `">`
}

func (w *noteWriter) link(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	address := safeAddress(node.(*ast.Link).Destination)
	switch {
	case address == "":
	case entering:
		writeString(out, w.linkStart(address))
	default:
		writeString(out, "</a>")
	}
	return ast.WalkContinue, nil
}

func (w *noteWriter) autoLink(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link := node.(*ast.AutoLink)
	label := chart.EscapeXML(string(link.Label(source)))
	switch address := autoLinkAddress(link, source); {
	case !entering:
	case address == "":
		writeString(out, label)
	default:
		writeString(out, w.linkStart(address)+label+"</a>")
	}
	return ast.WalkContinue, nil
}

func (w *noteWriter) image(out util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	if shown := w.of.Insets[node.(*ast.Image)]; shown.Fault != "" {
		writeString(out, chart.EscapeXML(shown.Text()))
	} else {
		writeString(out, w.picture(shown))
	}
	return ast.WalkSkipChildren, nil
}

func (w *noteWriter) code(out util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	begin := "<pre><code>"
	if w.isPage {
		// The attribute makes wide code scrollable by keyboard.
		begin = `<pre tabindex="0"><code>`
	}
	writeString(out, begin+chart.EscapeXML(codeLines(node, source))+"</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

func (w *noteWriter) table(out util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	begin, end := "<table>\n", "</table>\n"
	if w.isPage {
		begin = `<div class="scroll" tabindex="0" role="group" aria-label="Table of ` + chart.EscapeXML(w.of.Name) + `">` + begin
		end += "</div>\n"
	}
	if entering {
		writeString(out, begin)
	} else {
		writeString(out, end)
	}
	return ast.WalkContinue, nil
}
