// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"image/color"
	"strings"

	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/report/assets/uplot"
)

var (
	//go:embed templates
	templates embed.FS
	//go:embed assets/early.js
	earlyScript string
	//go:embed assets/page.js
	pageScript string
	//go:embed assets/live.css
	liveStyle string
)

// HTML is one file with everything in it: styles, charts and scripts included,
// nothing fetched. It follows the reader's choice of light or dark, and prints.
// Without its scripts it is all there, too.
func (r *Report) HTML() ([]byte, error) { return r.html(true) }

// html is the page, with the pictures of notes or without.
func (r *Report) html(pictures bool) ([]byte, error) {
	return r.execute("page.html", r.pageView(), pageFunctions(r.record.indexOfArms(), pictures))
}

// pageFunctions are those that the page's template calls; arms have an index, and notes
// their pictures or none.
func pageFunctions(armIndex map[string]int, pictures bool) template.FuncMap {
	mark := func(arm string) template.HTMLAttr {
		if at, known := armIndex[arm]; known {
			return template.HTMLAttr(fmt.Sprintf(` data-arm="%d"`, at)) //nolint:gosec // A number.
		}
		return ""
	}
	return template.FuncMap{
		"inline": func(c chart) template.HTML {
			// Pictures hold only what this package drew and escaped.
			return template.HTML(c.SVG.inline(c.Alt)) //nolint:gosec // See above.
		},
		"sketch":  func(f figure) template.HTML { return template.HTML(f.SVG.inline(f.Text)) }, //nolint:gosec // The same.
		"colors":  func(dark bool) template.CSS { return template.CSS(colors(dark)) },
		"styles":  func() template.CSS { return template.CSS(uplot.Style + "\n" + liveStyle) }, //nolint:gosec // Our own files.
		"anchor":  anchor,
		"early":   func() template.JS { return pageScripts[0] },
		"scripts": func() []template.JS { return pageScripts[1:] },
		"policy":  func() string { return policy },
		"written": func(n *note) template.HTML { return n.page(pictures) },
		"rowArm":  func(of row) template.HTMLAttr { return mark(armOf(of)) },
		"cellArm": mark,
	}
}

// anchor leads to the part it stands in, so that its address can be copied.
func anchor(address, title string) template.HTML {
	return template.HTML(`<a class="anchor" href="#` + escapeXML(address) + `" aria-label="Link to ` + escapeXML(title) + `">#</a>`) //nolint:gosec // Both are escaped.
}

// pageScripts, in their order; the first stands in the head.
var pageScripts = []template.JS{template.JS(earlyScript), template.JS(uplot.Script()), template.JS(pageScript)} //nolint:gosec // Our own files.

// policy lets the page run its own scripts and nothing else, and fetch nothing
// whatever. Charts have styles of their own within.
var policy = policyOf(pageScripts)

func policyOf(scripts []template.JS) string {
	var digests strings.Builder
	for _, script := range scripts {
		digest := sha256.Sum256([]byte(script))
		fmt.Fprintf(&digests, " 'sha256-%s'", base64.StdEncoding.EncodeToString(digest[:]))
	}
	return "default-src 'none'; style-src 'unsafe-inline'; script-src" + digests.String() + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// armOf a row is the one it is about.
func armOf(of row) string {
	for _, cell := range of.Cells {
		if cell.Arm {
			return cell.Text
		}
	}
	return ""
}

func (r *Report) execute(name string, page any, functions template.FuncMap) ([]byte, error) {
	return execute(name, name, page, functions)
}

// execute a part of a template; the whole has the template's name.
func execute(name, part string, page any, functions template.FuncMap) ([]byte, error) {
	functions["class"] = class
	functions["heat"] = heatClass
	parsed, err := template.New(name).Funcs(functions).ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, fmt.Errorf("reading the template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.ExecuteTemplate(&out, part, page); err != nil {
		return nil, fmt.Errorf("writing %s: %w", name, err)
	}
	return []byte(prose.Printable(out.String())), nil
}

// class of a verdict in the style sheet.
func class(verdict string) string {
	return strings.ToLower(strings.ReplaceAll(verdict, " ", "-"))
}

// colors are the roles' as variables of a style sheet.
func colors(dark bool) string {
	var written strings.Builder
	for _, one := range roles() {
		written.WriteString("--" + one.variable + ":" + css(one.shown(dark)) + ";")
	}
	for _, one := range armRoles() {
		written.WriteString("--" + one.variable + "-text:" + css(legible(one.shown(dark), dark)) + ";")
	}
	return written.String()
}

func (r role) shown(dark bool) color.RGBA {
	if dark {
		return r.dark
	}
	return r.light
}

// heatClass is what the style sheet calls a cell that is shaded.
func heatClass(heat int) string {
	switch {
	case heat > 0:
		return fmt.Sprintf(" more-%d", heat)
	case heat < 0:
		return fmt.Sprintf(" less-%d", -heat)
	}
	return ""
}
