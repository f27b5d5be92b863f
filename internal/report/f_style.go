// SPDX-License-Identifier: Apache-2.0

package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"image/color"
	"strings"

	"perflab.dev/perflab/internal/report/assets/uplot"
	"perflab.dev/perflab/internal/report/elements"
)

var (
	//go:embed assets/page.css
	pageStyle string
	//go:embed assets/live.css
	liveStyle string
	//go:embed assets/early.js
	earlyScript string
	//go:embed assets/page.js
	pageScript string
)

// formatHTML writes a page as one file with everything in it: styles, charts and scripts
// included, nothing fetched. It follows the reader's choice of light or dark, and prints. It
// is complete without its scripts. Insets are shown if pictures is true.
func formatHTML(page *document, pictures bool) ([]byte, error) {
	indexes := map[string]int{}
	for i, one := range page.Series {
		indexes[one.Name] = i
	}
	written, err := elements.Bytes(pageWriter{indexes, pictures}.page(newView(page)))
	if err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return written, nil
}

// pageScripts, in their order; the first stands in the head.
var pageScripts = []string{earlyScript, uplot.Script(), pageScript}

// policy lets the page run its own scripts and nothing else, and fetch nothing
// whatever. Charts have styles of their own within.
var policy = policyOf(pageScripts)

func policyOf(scripts []string) string {
	var digests strings.Builder
	for _, script := range scripts {
		digest := sha256.Sum256([]byte(script))
		fmt.Fprintf(&digests, " 'sha256-%s'", base64.StdEncoding.EncodeToString(digest[:]))
	}
	return "default-src 'none'; style-src 'unsafe-inline'; script-src" + digests.String() + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// styleSheet is the page's: its colours, for light and for dark, and its own files.
func styleSheet() string {
	return "\n:root{color-scheme:light dark;--page:#fff;--panel:#f6f7f9;--faint:#667081;" + colors(false) + "}\n" +
		"@media screen and (prefers-color-scheme:dark){:root{--page:#171a21;--panel:#1f242d;--faint:#929baa;" + colors(true) + "}}\n" +
		pageStyle + uplot.Style + "\n" + liveStyle + "\n"
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
