// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/json"
	"io"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
)

// statusLabel is a text in the color of its status.
func statusLabel(verdict, text string) g.Node {
	return h.Span(h.Class("verdict "+Class(verdict)), g.Text(text))
}

// titledChart is a chart with its title, and the data from which the page's script draws it.
func titledChart(of *document.Chart) g.Node {
	parts := g.Group{h.FigCaption(g.Text(of.Title)), Drawing(of.SVG, of.Alt)}
	if of.Live != nil {
		parts = append(parts, h.Script(h.Type("application/json"), jsonNode(of.Live)))
	}
	return parts
}

// Drawing is a picture, with only what this package drew and escaped.
func Drawing(of document.Picture, alt string) g.Node { return g.Raw(chart.Inline(of, alt)) }

// anchor links to the part that contains it, so that readers can copy its address.
func anchor(address, title string) g.Node {
	return h.A(h.Class("anchor"), h.Href("#"+address), h.Aria("label", "Link to "+title), g.Text("#"))
}

// jsonNode is a value for a script to read; nothing in it can end the script element.
func jsonNode(value any) g.Node {
	return g.NodeFunc(func(out io.Writer) error {
		written, err := json.Marshal(value)
		if err != nil {
			return err
		}
		_, err = out.Write(written)
		return err
	})
}

// Class is a verdict's class in the style sheet.
func Class(verdict string) string {
	return strings.ToLower(strings.ReplaceAll(verdict, " ", "-"))
}
