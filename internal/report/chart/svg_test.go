// SPDX-License-Identifier: Apache-2.0

package chart_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/testing/expect"
)

// A picture within a page has the page's colors and short paths.
func TestInlineElements(t *testing.T) {
	for name, tc := range map[string]struct{ drawn, want []string }{
		"lines are steps between rounded points": {
			[]string{`<path d="M28.84,24.578L28.84,28.55L0.04,1e-05Z" style="fill:none;stroke:#5D6675;stroke-width:0.75" />`},
			[]string{`<path d="M28.8,24.6l0,4l-28.8,-28.6Z" style="fill:none;stroke:var(--muted);stroke-width:0.75" />`},
		},
		"steps of less than one have no zero": {
			[]string{`<path d="M0.5,-0.5L0.2,10" style="fill:#123456" />`},
			[]string{`<path d="M.5,-.5l-.3,10.5" style="fill:#123456" />`},
		},
		"arcs are cut": {
			[]string{`<path d="M10.04,2.55A3.125,3.125 0 1 1 4.0,2.55Z" style="fill:#1F2430" />`},
			[]string{`<path d="M10,2.5A3.1,3.1 0 1 1 4,2.5Z" style="fill:var(--ink)" />`},
		},
		"what has no place stays": {
			[]string{`<path d="MNaN,+Inf" style="fill:#1F2430" />`},
			[]string{`<path d="MNaN,+Inf" style="fill:var(--ink)" />`},
		},
		"paths of a style that follow each other are one": {
			[]string{
				`<path d="M1,1L2,2" style="fill:none;stroke:#0072B2" />`, `<path d="M3,3L4,4" style="fill:none;stroke:#0072B2" />`,
				`<path d="M5,5L6,6" style="fill:none;stroke:#D55E00" />`, `<g transform="rotate(90)">`,
				`<path d="M7,7L8,8" style="fill:none;stroke:#D55E00" />`, `</g>`,
			},
			[]string{
				`<path d="M1,1l1,1M3,3l1,1" style="fill:none;stroke:var(--arm-1)" />`,
				`<path d="M5,5l1,1" style="fill:none;stroke:var(--arm-2)" />`, `<g transform="rotate(90)">`,
				`<path d="M7,7l1,1" style="fill:none;stroke:var(--arm-2)" />`, `</g>`,
			},
		},
		"what belongs to an arm is a group": {
			[]string{`<path d="M12,0" style="fill:#A53D01" />`, `<path d="M1,1L2,2" style="fill:#0072B2" />`, `<path d="M0,0" style="fill:#A53D02" />`},
			[]string{`<g data-arm="12">`, `<path d="M1,1l1,1" style="fill:var(--arm-1)" />`, `</g>`},
		},
		"words are legible, and say what they said": {
			[]string{`<text x="21.195" y="-15.06" transform="scale(1, -1)" style="font-size:11px;fill:#0072B2">#0072B2 at 21.195 fill:#A53D01</text>`},
			[]string{`<text x="21.1" y="-15" transform="scale(1, -1)" style="font-size:11px;fill:var(--arm-1-text)">#0072B2 at 21.195 fill:#A53D01</text>`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			const around = "<svg viewBox=\"0 0 9 9\">\n%\n</svg>"
			shown := chart.Inline(document.Picture(strings.Replace(around, "%", strings.Join(tc.drawn, "\n"), 1)), "")
			_, shown, _ = strings.Cut(shown, ">\n")
			shown = strings.TrimSuffix(shown, "\n</svg>")
			expect.Equal(t, tc.want, strings.Split(shown, "\n"))
		})
	}
}

// A difference of zero with a margin of zero is drawn in the middle.
func TestIntervalOfZeros(t *testing.T) {
	if drawn := string(chart.Interval(chart.Delta{}, []chart.Delta{{}}, 0)); strings.Contains(drawn, "NaN") {
		t.Errorf("the interval is %s", drawn)
	}
}
