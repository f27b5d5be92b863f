// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
	"perflab.dev/perflab/internal/text/prose"
)

// Any file that claims to be an export is rejected with an error, or gives every format without a
// panic; Read reads what Write writes.
func FuzzReader(f *testing.F) {
	input := recorded.Experiment(seed)
	input.Runs, input.Raw = input.Runs[:2], nil
	var whole bytes.Buffer
	expect.NoError(f, report.Write(&whole, input))
	f.Add(whole.String())
	f.Add(`{"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfExperiment", "metadata": {"name": "a"}, "spec": {"arms": [{"name": "a"}], "scenarios": [{"name": "s", "loads": [{"name": "l"}]}]}}`)
	f.Add("apiVersion: v1\nkind: List\nitems:\n- {apiVersion: perflab.dev/v1alpha1, kind: PerfRun, metadata: {name: r}}\n- {apiVersion: perflab.dev/v1alpha1, kind: PerfExperiment}\n")
	f.Add("apiVersion: perflab.dev/v1alpha1\nkind: PerfExperiment\nmetadata: {name: a}\nspec: {notes: [{name: a, configMap: {name: b, key: c.md}}, {name: d, at: \"2026-03-09T07:12:44Z\", text: e}]}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {c.md: \"![a](b.svg)\", b.svg: \"<svg/>\"}\n")
	f.Fuzz(func(t *testing.T, text string) {
		inputs, err := report.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, read := range inputs {
			var again bytes.Buffer
			expect.NoError(t, report.Write(&again, read))
			if _, err := report.Read(&again); err != nil {
				t.Fatalf("what was written is refused: %v", err)
			}
			document, err := report.New(read)
			if err != nil {
				continue
			}
			for _, write := range []func() ([]byte, error){document.HTML, document.CSV, func() ([]byte, error) { return document.Confluence(true) }, func() ([]byte, error) { return document.Markdown("charts"), nil }} {
				if _, err := write(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// Whatever a note contains, its page only shows it.
func FuzzNotes(f *testing.F) {
	for _, text := range evil {
		f.Add(text)
	}
	f.Add("# A\n\n| a | b |\n|---|:-:|\n| `c|d` | ![e](photo.png) |\n\n1. f\n   - g\n\n> h <https://i.example> [j][k]\n\n[k]: https://l.example 'm'\n")
	f.Fuzz(func(t *testing.T, text string) {
		page, wiki, markdown := report.WrittenNote(text)
		root, err := html.Parse(strings.NewReader(prose.Printable(page)))
		expect.NoError(t, err)
		harmless(t, root)
		wellFormed(t, "confluence", `<page xmlns:ac="urn:ac" xmlns:ri="urn:ri">`+prose.Printable(wiki)+"</page>")
		if markdown != "" {
			checkMarkdown(t, prose.Printable(markdown))
		}
	})
}
