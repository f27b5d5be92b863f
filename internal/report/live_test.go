// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/browser"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// tab shows a report in a browser.
type tab struct{ *browser.Tab }

// newTab is an empty tab for a page, of a width.
func newTab(t *testing.T, page string, width int64) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	expect.NoError(t, os.WriteFile(path, []byte(page), 0o600))
	return &tab{browser.New(t, width, (&url.URL{Scheme: "file", Path: path}).String())}
}

// openReport writes a report and opens it at a fragment, in a tab of a width.
func openReport(t *testing.T, input report.Input, width int64, fragment string) *tab {
	t.Helper()
	opened := newTab(t, written(t, reportOf(t, input), "report.html"), width)
	opened.Open(fragment)
	return opened
}

// livePage is the recorded experiment, opened.
func livePage(t *testing.T) *tab {
	t.Helper()
	return openReport(t, recorded.Experiment(seed), 1280, "")
}

// asJSON is a value as JSON for a script.
func asJSON(value any) string {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(body)
}

// liveChart scrolls to the chart of that number and waits until it is interactive.
func (p *tab) liveChart(number int) {
	p.Helper()
	figure := fmt.Sprintf("document.querySelectorAll('figure:has(> script)')[%d]", number)
	p.Eval(figure + ".scrollIntoView({block: 'center'})")
	p.Until(figure + ".matches('.live') && " + figure + ".querySelector('canvas').width > 0")
}

type spot struct{ X, Y float64 }

// pointAt moves the mouse to a position in a live chart, a share of its width.
func (p *tab) pointAt(chart int, share float64) {
	p.Helper()
	at := p.spotAt(chart, share)
	p.Do(chromedp.MouseEvent(chromedp.MouseMoved, at.X-3, at.Y), chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y))
}

// spotAt is the point at a share of a chart's width.
func (p *tab) spotAt(chart int, share float64) spot {
	p.Helper()
	return browser.Ask[spot](p.Tab, fmt.Sprintf("(() => { const box = document.querySelectorAll('figure.live .u-over')[%d].getBoundingClientRect(); return {X: box.x + %g*box.width, Y: box.y + 40}; })()", chart, share))
}

// drag over a chart from one share of its width to another.
func (p *tab) drag(chart int, from, to float64) {
	p.Helper()
	p.pointAt(chart, from)
	first, last := p.spotAt(chart, from), p.spotAt(chart, to)
	p.Do(
		chromedp.MouseEvent(chromedp.MousePressed, first.X, first.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, (first.X+last.X)/2, first.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, last.X, last.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, last.X, last.Y, chromedp.ButtonLeft),
	)
}

// click clicks the element of a selector.
func (p *tab) click(selector string) {
	p.Helper()
	p.Eval(fmt.Sprintf("document.querySelector(%s).click()", asJSON(selector)))
}

func TestChartsTellValueArmRunAndTime(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	p.Must("getComputedStyle(document.querySelector('figure.live > svg')).display === 'none'")
	p.pointAt(0, 0.5)
	p.Until("!document.querySelector('figure.live .tooltip').hidden")
	told := browser.Ask[string](p.Tab, "document.querySelector('figure.live .tooltip').innerText")
	for _, want := range []string{`(?m)^\d+ min( \d+ s)?`, recorded.Baseline + `\s+[\d.]+[\s\x{a0}]ms\s+block \d`, recorded.Arm + `\s+[\d.]+[\s\x{a0}]ms\s+block \d`} {
		if !regexp.MustCompile(want).MatchString(told) {
			t.Errorf("the tooltip says %q, want %s", told, want)
		}
	}
}

// All charts show the same moment, whatever their runs' lengths.
func TestCursorIsShared(t *testing.T) {
	p := livePage(t)
	p.liveChart(1)
	p.liveChart(0)
	p.pointAt(0, 0.3)
	const cursors = "[...document.querySelectorAll('figure.live')].map((figure) => figure.querySelector('.u-cursor-x').getBoundingClientRect().x - figure.querySelector('.u-over').getBoundingClientRect().x)"
	p.Until(cursors + ".length > 1 && " + cursors + ".every((at) => at > 10)")
	p.Must("[...document.querySelectorAll('figure.live')].every((figure) => /\\d/.test(figure.querySelector('.value').innerText))")
	p.Must("document.querySelectorAll('figure.live .tooltip:not([hidden])').length === 1")
}

func TestChartsTakeKeys(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	p.Eval("document.querySelector('figure.live .plot').focus()")
	p.Do(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.PageUp))
	const told = "document.activeElement.getAttribute('aria-valuetext')"
	p.Until("/, " + recorded.Baseline + " [\\d.]+/.test(" + told + ")")
	first := browser.Ask[string](p.Tab, told)
	p.Do(chromedp.KeyEvent(kb.ArrowRight))
	p.Until(told + " !== " + asJSON(first))
	p.Must("!document.querySelector('figure.live .tooltip').hidden")
	p.Do(chromedp.KeyEvent(kb.Escape))
	p.Until("document.querySelector('figure.live .tooltip').hidden")
}

// Charts over time zoom together, in and out.
func TestChartsZoomTogether(t *testing.T) {
	p := livePage(t)
	p.liveChart(1)
	p.liveChart(0)
	const labels = "[...document.querySelectorAll('figure > script')].slice(0, 2).map((one) => one.parentElement.querySelector('canvas').toDataURL())"
	whole := browser.Ask[[]string](p.Tab, labels)
	p.Eval("document.querySelector('figure.live .plot').focus()")
	p.Do(chromedp.KeyEvent("+"))
	const buttons = "[...document.querySelectorAll('figure.live .whole')]"
	p.Until(buttons + ".length > 1 && " + buttons + ".every((one) => !one.hidden)")
	p.Until(labels + ".every((one, at) => one !== " + asJSON(whole) + "[at])")
	p.Eval("document.querySelector('figure.live .whole').click()")
	p.Until(buttons + ".every((one) => one.hidden)")
	p.Until(labels + ".every((one, at) => one === " + asJSON(whole) + "[at])")
	p.drag(0, 0.2, 0.6)
	p.Until(buttons + ".every((one) => !one.hidden)")
	p.Until(labels + ".every((one, at) => one !== " + asJSON(whole) + "[at])")
}

// A hidden arm is hidden in charts, pictures, table rows and columns.
func TestArmsAreSwitchedOffEverywhere(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	button := fmt.Sprintf("[...document.querySelectorAll('.arms button')].find((one) => one.innerText.trim() === %s)", asJSON(recorded.Arm))
	p.Must(button + ".getAttribute('aria-pressed') === 'true'")
	shown := "[...document.querySelectorAll('main td code, main tbody th code, main thead th, main svg text, .legend li, .hero svg text')].filter((one) => one.getBoundingClientRect().width > 0 && one.textContent.trim().startsWith(" + asJSON(recorded.Arm) + "))"
	p.click("main")
	p.Eval("[...document.querySelectorAll('details')].forEach((one) => { one.open = true })")
	before := browser.Ask[int](p.Tab, shown+".length")
	pixels := "document.querySelector('figure.live canvas').toDataURL()"
	drawn := browser.Ask[string](p.Tab, pixels)
	p.Eval(button + ".click()")
	p.Must(button + ".getAttribute('aria-pressed') === 'false'")
	if left := browser.Ask[[]string](p.Tab, shown+".map((one) => one.closest('table, figure').innerText.slice(0, 60) + ': ' + one.textContent)"); before < 20 || len(left) > 0 {
		t.Errorf("of %d places that name %s these are left: %q", before, recorded.Arm, left)
	}
	p.Until(pixels + " !== " + asJSON(drawn))
	p.Eval(button + ".click()")
	if again := browser.Ask[int](p.Tab, shown+".length"); again != before {
		t.Errorf("%d places name %s again, want %d", again, recorded.Arm, before)
	}
}

const runsTable = "document.querySelector('#test-runs table')"

func TestTablesSort(t *testing.T) {
	p := livePage(t)
	column := func(at int) []string {
		return browser.Ask[[]string](p.Tab, fmt.Sprintf("[...%s.tBodies[0].rows].map((row) => row.cells[%d].textContent.trim())", runsTable, at))
	}
	header := func(at int) string { return fmt.Sprintf("%s.tHead.rows[0].cells[%d]", runsTable, at) }
	first := column(0)
	for _, want := range []string{"ascending", "descending"} {
		p.Eval(header(7) + ".querySelector('button').click()")
		p.Must(fmt.Sprintf("%s.getAttribute('aria-sort') === %s", header(7), asJSON(want)))
		numbers := browser.Ask[[]float64](p.Tab, fmt.Sprintf("[...%s.tBodies[0].rows].map((row) => row.cells[7].textContent.trim()).filter((text) => /^\\d/.test(text)).map(Number)", runsTable))
		if len(numbers) < 10 {
			t.Fatalf("%v: there is nothing to sort", numbers)
		}
		for i := 1; i < len(numbers); i++ {
			if want == "ascending" && numbers[i] < numbers[i-1] || want == "descending" && numbers[i] > numbers[i-1] {
				t.Fatalf("%s: %v", want, numbers)
			}
		}
	}
	p.Eval(header(7) + ".querySelector('button').click()")
	if again := column(0); strings.Join(again, " ") != strings.Join(first, " ") {
		t.Errorf("the third click leaves %v, want the order of the report, %v", again, first)
	}
}

func TestTablesFilter(t *testing.T) {
	p := livePage(t)
	rows := "[...document.querySelectorAll('#test-runs tbody tr')]"
	all := browser.Ask[int](p.Tab, rows+".length")
	p.Eval("document.querySelector('#test-runs details')?.setAttribute('open', '')")
	p.Eval(fmt.Sprintf("(() => { const field = document.querySelector('#test-runs input'); field.value = %s; field.dispatchEvent(new Event('input')); })()", asJSON(recorded.Twin+" "+recorded.AloneScenario)))
	shown := browser.Ask[[]string](p.Tab, rows+".filter((row) => row.checkVisibility()).map((row) => row.innerText)")
	if len(shown) == 0 || len(shown) >= all {
		t.Errorf("%d of %d rows are shown", len(shown), all)
	}
	for _, row := range shown {
		if !strings.Contains(row, recorded.Twin) || !strings.Contains(row, recorded.AloneScenario) {
			t.Errorf("%q is shown", row)
		}
	}
	p.Must(fmt.Sprintf("document.querySelector('#test-runs [role=status]').innerText === '%d of %d rows'", len(shown), all))
}

// A link into a folded part unfolds it; so does a link to the current address.
func TestDeepLinksUnfold(t *testing.T) {
	p := openReport(t, recorded.Experiment(seed), 1280, "#appendix-reproduction")
	p.Until("document.querySelector('#appendix details').open")
	p.Until("Math.abs(document.getElementById('appendix-reproduction').getBoundingClientRect().top) < 200")
	p.Must("!document.querySelector('#methodology details').open")
	p.click("nav a[href='#methodology']")
	p.Until("document.querySelector('#methodology details').open")
	p.Eval("document.querySelector('#methodology details').open = false")
	p.click("nav a[href='#methodology']")
	p.Until("document.querySelector('#methodology details').open")
}

// Each anchor has a target, and each table, chart and heading has an anchor.
func TestEveryPartHasAnAddress(t *testing.T) {
	p := livePage(t)
	p.Must("[...document.querySelectorAll('a.anchor, nav a, a.skip')].every((one) => document.getElementById(one.hash.slice(1)))")
	p.Must("[...document.querySelectorAll('main h2, main h3, main table, main figure')].every((one) => one.closest('[id]:has(> a.anchor)'))")
	p.Must("new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size === document.querySelectorAll('[id]').length")
}

// An anchor shows when the mouse is over its part.
func TestAnchorsShowBesideTheMouse(t *testing.T) {
	p := livePage(t)
	const anchor = "document.querySelector('#results .part:has(table) > .anchor')"
	p.Eval(anchor + ".parentElement.scrollIntoView({block: 'center'})")
	p.Must("getComputedStyle(" + anchor + ").opacity === '0'")
	at := browser.Ask[spot](p.Tab, "(({x, y}) => ({X: x + 30, Y: y + 30}))("+anchor+".parentElement.getBoundingClientRect())")
	p.Do(chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y))
	p.Until("getComputedStyle(" + anchor + ").opacity === '1'")
	p.Must("document.elementFromPoint(" + anchor + ".getBoundingClientRect().x + 3, " + anchor + ".getBoundingClientRect().y + 8) === " + anchor)
}

// The first key press offers to skip the navigation.
func TestTheFirstTabSkips(t *testing.T) {
	p := livePage(t)
	p.Do(chromedp.KeyEvent(kb.Tab))
	p.Until("document.activeElement.matches('.skip') && document.activeElement.getBoundingClientRect().x >= 0")
	p.Do(chromedp.KeyEvent(kb.Enter))
	p.Until("document.activeElement.matches('main')")
}

func TestWithoutScriptsThePageIsComplete(t *testing.T) {
	p := newTab(t, written(t, reportOf(t, recorded.Experiment(seed)), "report.html"), 1280)
	p.WithoutScripts()
	p.Open("")
	// The test's script is not part of the page and still runs.
	p.Must("document.querySelectorAll('main figure > svg').length > 6")
	p.Must("[...document.querySelectorAll('main figure > svg, main table, main h3, main pre')].every((one) => one.checkVisibility())")
	p.Must("!document.querySelector('.plot, .arms, button, input')")
}

// Print has every picture and every table, even folded or hidden ones.
func TestPrintIsComplete(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	p.click(".arms button")
	p.Eval("dispatchEvent(new Event('beforeprint'))")
	browser.Call(p.Tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	p.Must("[...document.querySelectorAll('main figure > svg, main svg g[data-arm], main table, main tbody tr, main td, main h3, main pre')].every((one) => one.checkVisibility())")
	p.Must("[...document.querySelectorAll('thead')].every((one) => getComputedStyle(one).display === 'table-header-group' && getComputedStyle(one).breakInside === 'avoid')")
	p.Must("[...document.querySelectorAll('main tr')].every((one) => getComputedStyle(one).breakInside === 'avoid')")
	p.Must("[...document.querySelectorAll('.plot, .keys, .tools, .filter, .anchor')].every((one) => !one.checkVisibility())")
	p.Eval("dispatchEvent(new Event('afterprint'))")
	p.Must("!document.querySelector('#appendix details').open")
	if pdf := browser.Call(p.Tab, page.PrintToPDF, page.PrintToPDFParams{}); len(pdf.Data) < 10_000 {
		t.Errorf("%d bytes on paper", len(pdf.Data))
	}
}

// On a phone the page scrolls down, not sideways.
func TestPhone(t *testing.T) {
	p := openReport(t, recorded.Experiment(seed), 400, "")
	p.liveChart(0)
	p.Eval("[...document.querySelectorAll('details')].forEach((one) => { one.open = true })")
	if width := browser.Ask[int](p.Tab, "document.documentElement.scrollWidth"); width > 400 {
		t.Errorf("the page is %d pixels wide", width)
	}
	p.pointAt(0, 0.5)
	if width := browser.Ask[int](p.Tab, "document.documentElement.scrollWidth"); width > 400 {
		t.Errorf("the page with a tooltip is %d pixels wide", width)
	}
}

// axe-core finds no barriers.
func TestAccessibility(t *testing.T) {
	for scheme, width := range map[string]int64{"light": 1280, "dark": 400} {
		t.Run(scheme, func(t *testing.T) {
			p := newTab(t, written(t, reportOf(t, withNotes(t, recorded.Experiment(seed))), "report.html"), width)
			p.Prefer(scheme)
			p.Open("")
			p.liveChart(0)
			p.pointAt(0, 0.5)
			p.Eval("[...document.querySelectorAll('details')].forEach((one) => { one.open = true })")
			p.Accessible()
		})
	}
}

// Third-party names stay text, also where a script shows them.
func TestHostileNamesStayNames(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>`
	text, err := json.Marshal(recorded.Experiment(seed))
	expect.NoError(t, err)
	var input report.Input
	expect.NoError(t, json.Unmarshal([]byte(foreign(t, string(text), map[string]string{recorded.Twin: evil})), &input))
	p := openReport(t, input, 1280, "")
	p.liveChart(0)
	p.pointAt(0, 0.5)
	p.Until("document.querySelector('figure.live .tooltip').innerText.includes(" + asJSON(evil) + ")")
	p.Must("[...document.querySelectorAll('.arms button')].some((one) => one.innerText.trim() === " + asJSON(evil) + ")")
	p.Must("!document.querySelector('img')")
}

// Charts follow a change of the color scheme or the size.
func TestChartsFollowLightAndSize(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	const pixels = "document.querySelector('figure.live canvas').toDataURL()"
	before := asJSON(browser.Ask[string](p.Tab, pixels))
	p.Prefer("dark")
	p.Until(pixels + " !== " + before)
	p.Do(chromedp.EmulateViewport(500, 900))
	p.Until("(({width}, figure) => width > 300 && width <= figure.width)(document.querySelector('figure.live .uplot').getBoundingClientRect(), document.querySelector('figure.live').getBoundingClientRect())")
}
