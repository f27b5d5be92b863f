// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/browser"
	"perflab.dev/perflab/internal/testing/expect"
)

// example reads the export of a recorded experiment of the documentation.
func example(t *testing.T, name string) report.Input {
	t.Helper()
	file, err := os.ReadFile("../../docs/examples/" + name + ".yaml.gz")
	expect.NoError(t, err)
	packed, err := gzip.NewReader(bytes.NewReader(file))
	expect.NoError(t, err)
	inputs, err := report.Read(packed)
	expect.NoError(t, err)
	return inputs[0]
}

// eachExample runs a test for every recorded experiment of the documentation.
func eachExample(t *testing.T, test func(*testing.T, report.Input)) {
	t.Helper()
	paths, err := filepath.Glob("../../docs/examples/*.yaml.gz")
	if err != nil || len(paths) < 7 {
		t.Fatalf("%d recorded experiments, %v", len(paths), err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml.gz")
		t.Run(name, func(t *testing.T) { test(t, example(t, name)) })
	}
}

// Tables have no empty columns, and the most important column comes first.
func TestTablesOfExamples(t *testing.T) {
	eachExample(t, func(t *testing.T, input report.Input) {
		page := markdownOf(t, input)
		for _, one := range tables(page) {
			for at, title := range one.header {
				if at > 0 && slices.Contains([]string{"Verdict", "Equivalent", "Differs", "Status"}, title) {
					t.Errorf("%s: %s is column %d", one.caption, title, at)
				}
				if !slices.ContainsFunc(one.rows, func(row []string) bool { return row[at] != "" && row[at] != "–" }) {
					t.Errorf("%s: column %q is empty", one.caption, title)
				}
			}
		}
		shown, _, _ := strings.Cut(page, "<details><summary>Declaration")
		for _, raw := range []string{`\["`, `["`, `{"`} {
			if strings.Contains(shown, raw) {
				t.Errorf("the page shows raw JSON: %s", raw)
			}
		}
	})
}

// All formats use the same minus sign.
func TestNegativeNumbersHaveAMinusSign(t *testing.T) {
	literal := regexp.MustCompile("(?s)```.*?```|`[^`]*`|<pre.*?</pre>|<code.*?</code>|<script.*?</script>|<style.*?</style>|<[a-z/][^>]*>")
	described := regexp.MustCompile(`aria-label="[^"]*"|ac:alt="[^"]*"`)
	hyphened := regexp.MustCompile(`[^\n]{0,40}[\s(>"|]-\d[^\n]{0,20}`)
	eachExample(t, func(t *testing.T, input report.Input) {
		r := reportOf(t, input)
		for _, format := range []string{"report.md", "report.html", "report.confluence"} {
			page := written(t, r, format)
			shown := literal.ReplaceAllString(page, "") + strings.Join(described.FindAllString(page, -1), "\n")
			for _, found := range hyphened.FindAllString(shown, -1) {
				t.Errorf("%s: %s", format, found)
			}
			if !strings.Contains(shown, "−") && len(input.Experiment.Status.Arms) > 1 {
				t.Errorf("%s has no negative number", format)
			}
		}
	})
}

// CPU below a tenth of a core is in thousandths, the numbers of a table have one unit, and values
// have no trailing zeros without meaning.
func TestNumbersOfExamplesHaveDigitsThatTell(t *testing.T) {
	few := regexp.MustCompile(`\b0\.0\d+ cores`)
	eachExample(t, func(t *testing.T, input report.Input) {
		page, millicores := markdownOf(t, input), false
		for _, found := range few.FindAllString(strings.ReplaceAll(page, "\u00a0", " "), -1) {
			t.Errorf("the page says %s", found)
		}
		for _, one := range tables(page) {
			unit := slices.Index(one.header, "Unit")
			for _, row := range one.rows {
				if unit >= 0 && row[unit] == "cores" && slices.ContainsFunc(row[1:unit], func(cell string) bool { return strings.HasPrefix(cell, "0.0") }) {
					t.Errorf("%s: %v", one.caption, row)
				}
				millicores = millicores || unit >= 0 && row[unit] == "millicores"
			}
		}
		isStepped := input.Experiment.Spec.Scenarios[0].Capacity != nil
		if !millicores && !isStepped {
			t.Error("no row is in millicores")
		}
		if found := regexp.MustCompile(`\b\d+\.0+ connections`).FindString(strings.ReplaceAll(page, "\u00a0", " ")); found != "" {
			t.Errorf("the page says %s", found)
		}
	})
}

// looks are the conditions that each example's page meets in a browser, at each width.
var looks = map[string]string{
	"verdicts are seen beside the first rows": "[...document.querySelectorAll('table td:first-child > .verdict')].every((one) => one.closest('.scroll').scrollLeft === 0 && one.getBoundingClientRect().right <= innerWidth)",
	"heads of tables take two lines at most": `[...document.querySelectorAll('thead th')].every((one) => {
		const texts = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), range = document.createRange(), lines = new Set();
		while (texts.nextNode()) {
			range.selectNodeContents(texts.currentNode);
			for (const rect of range.getClientRects()) lines.add(Math.round(rect.top));
		}
		return lines.size <= 2;
	})`,
	"nothing is wider than the page":                    "document.documentElement.scrollWidth <= innerWidth",
	"the answer and its limits are on the first screen": "[...document.querySelectorAll('.card > .answer, .card > .chips, .card > .sure')].every((one) => one.getBoundingClientRect().bottom <= innerHeight)",
}

// overprinted lists texts in pictures that overlap each other or data.
const overprinted = `(() => {
	const found = [];
	for (const svg of document.querySelectorAll('figure > svg')) {
		svg.style.display = 'block';
		const name = svg.closest('figure').id;
		const texts = [...svg.querySelectorAll('text')].map((one) => ({ words: one.textContent, box: one.getBoundingClientRect() }));
		const meets = (a, b) => Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1 && Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 3;
		texts.forEach((one, i) => texts.slice(i + 1).forEach((other) => {
			if (meets(one.box, other.box)) found.push(name + ': "' + one.words + '" stands on "' + other.words + '"');
		}));
		for (const path of svg.querySelectorAll('path')) {
			if (!path.closest('[data-arm]') && getComputedStyle(path).stroke === 'none') continue;
			const length = path.getTotalLength();
			for (let at = 0; at <= length; at += Math.max(2, length / 2000)) {
				const { x, y } = path.getPointAtLength(at).matrixTransform(path.getScreenCTM());
				const hit = texts.find(({ box }) => x > box.x + 1 && x < box.x + box.width - 1 && y > box.y + 2 && y < box.y + box.height - 2);
				if (hit) { found.push(name + ': "' + hit.words + '" stands on a line or mark'); break; }
			}
		}
		svg.style.display = '';
	}
	return found;
})()`

// A desktop and a phone show each example's page correctly.
func TestExamplesInABrowser(t *testing.T) {
	eachExample(t, func(t *testing.T, input report.Input) {
		p := openReport(t, input, 1280, "")
		for _, found := range browser.Ask[[]string](p.Tab, overprinted) {
			t.Error(found)
		}
		for _, width := range []int64{1280, 400} {
			p.Resize(width)
			for what, expression := range looks {
				if !browser.Ask[bool](p.Tab, expression) {
					t.Errorf("%d pixels wide: not so: %s", width, what)
				}
			}
		}
	})
}
