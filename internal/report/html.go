// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"

	"perflab.dev/perflab/internal/prose"
)

//go:embed templates
var templates embed.FS

// HTML is one file with everything in it: styles and charts included, no
// script, nothing fetched. It follows the reader's choice of light or dark, and
// prints.
func (r *Report) HTML() ([]byte, error) {
	return r.execute("page.html", template.FuncMap{
		"inline": func(c chart) template.HTML {
			// Pictures hold only what this package drew and escaped.
			return template.HTML(c.SVG.inline(c.Alt)) //nolint:gosec // See above.
		},
		"sketch": func(f figure) template.HTML { return template.HTML(f.SVG.inline(f.Text)) }, //nolint:gosec // The same.
		"colors": func(dark bool) template.CSS { return template.CSS(colors(dark)) },
	})
}

func (r *Report) execute(name string, functions template.FuncMap) ([]byte, error) {
	functions["class"] = class
	parsed, err := template.New(name).Funcs(functions).ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, fmt.Errorf("reading the template %s: %w", name, err)
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, r.page); err != nil {
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
		shown := one.light
		if dark {
			shown = one.dark
		}
		written.WriteString("--" + one.variable + ":" + css(shown) + ";")
	}
	return written.String()
}
