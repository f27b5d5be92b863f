// SPDX-License-Identifier: Apache-2.0

package elements_test

import (
	"errors"
	"io"
	"testing"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"perflab.dev/perflab/internal/report/elements"
)

func TestBytes(t *testing.T) {
	words := []string{"a<b", "c"}
	page := elements.Lines(
		nil,
		h.Ul(g.Text("\n"), elements.Each(words, func(at int, word *string) g.Node {
			if at > 0 {
				return nil
			}
			return h.Li(g.Text(*word))
		})),
		elements.Text("", h.P),
		elements.Text("x\u202ey", h.P, h.Class("n")),
		elements.Open("tr", []g.Node{nil, h.ID(`"`)}, elements.Open("td", nil, g.Text("&"))),
	)
	const want = "<ul>\n<li>a&lt;b</li>\n</ul>\n<p class=\"n\">x\ufffdy</p>\n<tr id=\"&#34;\"><td>&amp;\n"
	if got, err := elements.Bytes(page); err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

var errNode = errors.New("no node")

func TestBytesTellsWhatFailed(t *testing.T) {
	broken := g.NodeFunc(func(io.Writer) error { return errNode })
	attribute := []g.Node{broken}
	for _, page := range []g.Node{
		elements.Lines(broken),
		elements.Each([]int{1}, func(int, *int) g.Node { return broken }),
		elements.Open("tr", attribute, g.Text("")),
		elements.Open("tr", nil, broken),
	} {
		if _, err := elements.Bytes(page); !errors.Is(err, errNode) {
			t.Errorf("%v; want %v", err, errNode)
		}
	}
}
