// SPDX-License-Identifier: Apache-2.0

package format

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/format/assets/uplot"
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

// pageScripts are in order; the first is in the head.
var pageScripts = []string{earlyScript, uplot.Script(), pageScript}

// Policy lets the page run only its own scripts and fetch nothing. It allows inline styles, which
// charts have.
var Policy = contentPolicy(pageScripts)

func contentPolicy(scripts []string) string {
	var digests strings.Builder
	for _, script := range scripts {
		digest := sha256.Sum256([]byte(script))
		fmt.Fprintf(&digests, " 'sha256-%s'", base64.StdEncoding.EncodeToString(digest[:]))
	}
	return "default-src 'none'; style-src 'unsafe-inline'; script-src" + digests.String() + "; img-src data:; base-uri 'none'; form-action 'none'"
}

// Style is the style sheet: colors for light and dark pages, and files.
func Style() g.Node {
	return h.StyleEl(g.Raw("\n:root{color-scheme:light dark;--page:#fff;--panel:#f6f7f9;--faint:#667081;" + chart.StyleVariables(false) + "}\n" +
		"@media screen and (prefers-color-scheme:dark){:root{--page:#171a21;--panel:#1f242d;--faint:#929baa;" + chart.StyleVariables(true) + "}}\n" +
		pageStyle + uplot.Style + "\n" + liveStyle + "\n"))
}

// heatClass is the CSS class of a shaded cell.
func heatClass(heat int) string {
	switch {
	case heat > 0:
		return fmt.Sprintf(" more-%d", heat)
	case heat < 0:
		return fmt.Sprintf(" less-%d", -heat)
	}
	return ""
}
