// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"perflab.dev/perflab/internal/report"
	"perflab.dev/perflab/internal/testing/recorded"
)

// liveChart brings the chart of that number to the screen and waits until it lives.
func (p *tab) liveChart(number int) {
	p.Helper()
	figure := fmt.Sprintf("document.querySelectorAll('figure:has(> script)')[%d]", number)
	p.do(chromedp.Evaluate[chromedp.Void](figure + ".scrollIntoView({block: 'center'})"))
	p.until(figure + ".matches('.live') && " + figure + ".querySelector('canvas').width > 0")
}

type spot struct{ X, Y float64 }

// pointAt moves the mouse to a share of the way through a live chart.
func (p *tab) pointAt(chart int, share float64) {
	p.Helper()
	at := p.spotAt(chart, share)
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, at.X-3, at.Y), chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y))
}

// spotAt a share of a chart's width.
func (p *tab) spotAt(chart int, share float64) spot {
	p.Helper()
	return ask[spot](p, fmt.Sprintf("(() => { const box = document.querySelectorAll('figure.live .u-over')[%d].getBoundingClientRect(); return {X: box.x + %g*box.width, Y: box.y + 40}; })()", chart, share))
}

// drag over a chart from one share of its width to another.
func (p *tab) drag(chart int, from, to float64) {
	p.Helper()
	p.pointAt(chart, from)
	first, last := p.spotAt(chart, from), p.spotAt(chart, to)
	p.do(
		chromedp.MouseEvent(chromedp.MousePressed, first.X, first.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, (first.X+last.X)/2, first.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, last.X, last.Y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseReleased, last.X, last.Y, chromedp.ButtonLeft),
	)
}

// click what a selector finds.
func (p *tab) click(selector string) {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.querySelector(%s).click()", quoted(selector))))
}

func TestChartsTellValueArmRunAndTime(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	p.must("getComputedStyle(document.querySelector('figure.live > svg')).display === 'none'")
	p.pointAt(0, 0.5)
	p.until("!document.querySelector('figure.live .tooltip').hidden")
	told := ask[string](p, "document.querySelector('figure.live .tooltip').innerText")
	for _, want := range []string{`(?m)^\d+ min( \d+ s)?`, recorded.Baseline + `\s+[\d.]+[\s\x{a0}]ms\s+block \d`, recorded.Arm + `\s+[\d.]+[\s\x{a0}]ms\s+block \d`} {
		if !regexp.MustCompile(want).MatchString(told) {
			t.Errorf("the tooltip says %q, want %s", told, want)
		}
	}
}

// All charts tell of the same moment, whatever their runs' lengths.
func TestCursorIsShared(t *testing.T) {
	p := livePage(t)
	p.liveChart(1)
	p.liveChart(0)
	p.pointAt(0, 0.3)
	const cursors = "[...document.querySelectorAll('figure.live')].map((figure) => figure.querySelector('.u-cursor-x').getBoundingClientRect().x - figure.querySelector('.u-over').getBoundingClientRect().x)"
	p.until(cursors + ".length > 1 && " + cursors + ".every((at) => at > 10)")
	p.must("[...document.querySelectorAll('figure.live')].every((figure) => /\\d/.test(figure.querySelector('.value').innerText))")
	p.must("document.querySelectorAll('figure.live .tooltip:not([hidden])').length === 1")
}

func TestChartsTakeKeys(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('figure.live .plot').focus()"))
	p.do(chromedp.KeyEvent(kb.Home), chromedp.KeyEvent(kb.PageUp))
	const told = "document.activeElement.getAttribute('aria-valuetext')"
	p.until("/, " + recorded.Baseline + " [\\d.]+/.test(" + told + ")")
	first := ask[string](p, told)
	p.do(chromedp.KeyEvent(kb.ArrowRight))
	p.until(told + " !== " + quoted(first))
	p.must("!document.querySelector('figure.live .tooltip').hidden")
	p.do(chromedp.KeyEvent(kb.Escape))
	p.until("document.querySelector('figure.live .tooltip').hidden")
}

// Charts over time show the same stretch of the run, and all of it again.
func TestChartsZoomTogether(t *testing.T) {
	p := livePage(t)
	p.liveChart(1)
	p.liveChart(0)
	const labels = "[...document.querySelectorAll('figure > script')].slice(0, 2).map((one) => one.parentElement.querySelector('canvas').toDataURL())"
	whole := ask[[]string](p, labels)
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('figure.live .plot').focus()"))
	p.do(chromedp.KeyEvent("+"))
	const buttons = "[...document.querySelectorAll('figure.live .whole')]"
	p.until(buttons + ".length > 1 && " + buttons + ".every((one) => !one.hidden)")
	p.until(labels + ".every((one, at) => one !== " + asJSON(whole) + "[at])")
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('figure.live .whole').click()"))
	p.until(buttons + ".every((one) => one.hidden)")
	p.until(labels + ".every((one, at) => one === " + asJSON(whole) + "[at])")
	p.drag(0, 0.2, 0.6)
	p.until(buttons + ".every((one) => !one.hidden)")
	p.until(labels + ".every((one, at) => one !== " + asJSON(whole) + "[at])")
}

// An arm that is switched off is gone from charts, pictures, tables' rows and columns.
func TestArmsAreSwitchedOffEverywhere(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	button := fmt.Sprintf("[...document.querySelectorAll('.arms button')].find((one) => one.innerText.trim() === %s)", quoted(recorded.Arm))
	p.must(button + ".getAttribute('aria-pressed') === 'true'")
	shown := "[...document.querySelectorAll('main td code, main tbody th code, main thead th, main svg text, .legend li, .hero svg text')].filter((one) => one.getBoundingClientRect().width > 0 && one.textContent.trim().startsWith(" + quoted(recorded.Arm) + "))"
	p.click("main")
	p.do(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('details')].forEach((one) => { one.open = true })"))
	before := ask[int](p, shown+".length")
	pixels := "document.querySelector('figure.live canvas').toDataURL()"
	drawn := ask[string](p, pixels)
	p.do(chromedp.Evaluate[chromedp.Void](button + ".click()"))
	p.must(button + ".getAttribute('aria-pressed') === 'false'")
	if left := ask[[]string](p, shown+".map((one) => one.closest('table, figure').innerText.slice(0, 60) + ': ' + one.textContent)"); before < 20 || len(left) > 0 {
		t.Errorf("of %d places that name %s these are left: %q", before, recorded.Arm, left)
	}
	p.until(pixels + " !== " + quoted(drawn))
	p.do(chromedp.Evaluate[chromedp.Void](button + ".click()"))
	if again := ask[int](p, shown+".length"); again != before {
		t.Errorf("%d places name %s again, want %d", again, recorded.Arm, before)
	}
}

const runsTable = "document.querySelector('#test-runs table')"

func TestTablesSort(t *testing.T) {
	p := livePage(t)
	column := func(at int) []string {
		return ask[[]string](p, fmt.Sprintf("[...%s.tBodies[0].rows].map((row) => row.cells[%d].textContent.trim())", runsTable, at))
	}
	header := func(at int) string { return fmt.Sprintf("%s.tHead.rows[0].cells[%d]", runsTable, at) }
	first := column(0)
	for _, want := range []string{"ascending", "descending"} {
		p.do(chromedp.Evaluate[chromedp.Void](header(7) + ".querySelector('button').click()"))
		p.must(fmt.Sprintf("%s.getAttribute('aria-sort') === %s", header(7), quoted(want)))
		numbers := ask[[]float64](p, fmt.Sprintf("[...%s.tBodies[0].rows].map((row) => row.cells[7].textContent.trim()).filter((text) => /^\\d/.test(text)).map(Number)", runsTable))
		if len(numbers) < 10 {
			t.Fatalf("%v: there is nothing to sort", numbers)
		}
		for i := 1; i < len(numbers); i++ {
			if want == "ascending" && numbers[i] < numbers[i-1] || want == "descending" && numbers[i] > numbers[i-1] {
				t.Fatalf("%s: %v", want, numbers)
			}
		}
	}
	p.do(chromedp.Evaluate[chromedp.Void](header(7) + ".querySelector('button').click()"))
	if again := column(0); strings.Join(again, " ") != strings.Join(first, " ") {
		t.Errorf("the third click leaves %v, want the order of the report, %v", again, first)
	}
}

func TestTablesFilter(t *testing.T) {
	p := livePage(t)
	rows := "[...document.querySelectorAll('#test-runs tbody tr')]"
	all := ask[int](p, rows+".length")
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#test-runs details')?.setAttribute('open', '')"),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf("(() => { const field = document.querySelector('#test-runs input'); field.value = %s; field.dispatchEvent(new Event('input')); })()", quoted(recorded.Twin+" "+recorded.Alone))))
	shown := ask[[]string](p, rows+".filter((row) => row.checkVisibility()).map((row) => row.innerText)")
	if len(shown) == 0 || len(shown) >= all {
		t.Errorf("%d of %d rows are shown", len(shown), all)
	}
	for _, row := range shown {
		if !strings.Contains(row, recorded.Twin) || !strings.Contains(row, recorded.Alone) {
			t.Errorf("%q is shown", row)
		}
	}
	p.must(fmt.Sprintf("document.querySelector('#test-runs [role=status]').innerText === '%d of %d rows'", len(shown), all))
}

// A link into what is folded unfolds it; so does one to where one already is.
func TestDeepLinksUnfold(t *testing.T) {
	p := browse(t, file(t, written(t, reportOf(t, recorded.Experiment(seed)), "report.html")), 1280, 800).open("#appendix-how-to-repeat-it")
	p.until("document.querySelector('#appendix details').open")
	p.until("Math.abs(document.getElementById('appendix-how-to-repeat-it').getBoundingClientRect().top) < 200")
	p.must("!document.querySelector('#methodology details').open")
	p.click("nav a[href='#methodology']")
	p.until("document.querySelector('#methodology details').open")
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#methodology details').open = false"))
	p.click("nav a[href='#methodology']")
	p.until("document.querySelector('#methodology details').open")
}

// Each anchor leads somewhere, and each table, chart and heading has one.
func TestEveryPartHasAnAddress(t *testing.T) {
	p := livePage(t)
	p.must("[...document.querySelectorAll('a.anchor, nav a, a.skip')].every((one) => document.getElementById(one.hash.slice(1)))")
	p.must("[...document.querySelectorAll('main h2, main h3, main table, main figure')].every((one) => one.closest('[id]:has(> a.anchor)'))")
	p.must("new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size === document.querySelectorAll('[id]').length")
}

// Whose address one wants is what the mouse is at.
func TestAnchorsShowBesideTheMouse(t *testing.T) {
	p := livePage(t)
	const anchor = "document.querySelector('#results .part:has(table) > .anchor')"
	p.do(chromedp.Evaluate[chromedp.Void](anchor + ".parentElement.scrollIntoView({block: 'center'})"))
	p.must("getComputedStyle(" + anchor + ").opacity === '0'")
	at := ask[spot](p, "(({x, y}) => ({X: x + 30, Y: y + 30}))("+anchor+".parentElement.getBoundingClientRect())")
	p.do(chromedp.MouseEvent(chromedp.MouseMoved, at.X, at.Y))
	p.until("getComputedStyle(" + anchor + ").opacity === '1'")
	p.must("document.elementFromPoint(" + anchor + ".getBoundingClientRect().x + 3, " + anchor + ".getBoundingClientRect().y + 8) === " + anchor)
}

// The first key leads past the navigation, and shows that it does.
func TestTheFirstTabSkips(t *testing.T) {
	p := livePage(t)
	p.do(chromedp.KeyEvent(kb.Tab))
	p.until("document.activeElement.matches('.skip') && document.activeElement.getBoundingClientRect().x >= 0")
	p.do(chromedp.KeyEvent(kb.Enter))
	p.until("document.activeElement.matches('main')")
}

func TestWithoutScriptsThePageIsComplete(t *testing.T) {
	p := browse(t, file(t, written(t, reportOf(t, recorded.Experiment(seed)), "report.html")), 1280, 800)
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.open("")
	// What asks is not of the page, and runs.
	p.must("document.querySelectorAll('main figure > svg').length > 6")
	p.must("[...document.querySelectorAll('main figure > svg, main table, main h3, main pre')].every((one) => one.checkVisibility())")
	p.must("!document.querySelector('.plot, .arms, button, input')")
}

// Paper has every picture and every table, whatever was folded and switched off.
func TestPrintIsComplete(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	p.click(".arms button")
	p.do(chromedp.Evaluate[chromedp.Void]("dispatchEvent(new Event('beforeprint'))"))
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	p.must("[...document.querySelectorAll('main figure > svg, main svg g[data-arm], main table, main tbody tr, main td, main h3, main pre')].every((one) => one.checkVisibility())")
	p.must("[...document.querySelectorAll('.plot, .tools, .filter, .anchor')].every((one) => !one.checkVisibility())")
	p.do(chromedp.Evaluate[chromedp.Void]("dispatchEvent(new Event('afterprint'))"))
	p.must("!document.querySelector('#appendix details').open")
	if pdf := call(p, page.PrintToPDF, page.PrintToPDFParams{}); len(pdf.Data) < 10_000 {
		t.Errorf("%d bytes on paper", len(pdf.Data))
	}
}

// On a phone the page scrolls down and not sideways.
func TestPhone(t *testing.T) {
	p := browse(t, file(t, written(t, reportOf(t, recorded.Experiment(seed)), "report.html")), 400, 800).open("")
	p.liveChart(0)
	p.do(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('details')].forEach((one) => { one.open = true })"))
	if width := ask[int](p, "document.documentElement.scrollWidth"); width > 400 {
		t.Errorf("the page is %d pixels wide", width)
	}
	p.pointAt(0, 0.5)
	if width := ask[int](p, "document.documentElement.scrollWidth"); width > 400 {
		t.Errorf("the page with a tooltip is %d pixels wide", width)
	}
}

// axe-core finds what keeps people from reading the page.
func TestAccessibility(t *testing.T) {
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	for scheme, width := range map[string]int64{"light": 1280, "dark": 400} {
		t.Run(scheme, func(t *testing.T) {
			p := browse(t, file(t, written(t, reportOf(t, withNotes(t, recorded.Experiment(seed))), "report.html")), width, 800)
			call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			p.open("")
			p.liveChart(0)
			p.pointAt(0, 0.5)
			p.do(chromedp.Evaluate[chromedp.Void]("[...document.querySelectorAll('details')].forEach((one) => { one.open = true })"), chromedp.Evaluate[chromedp.Void](string(axe)))
			for _, violation := range violations(p) {
				t.Errorf("%s: %s\n%s", violation.ID, violation.Help, strings.Join(violation.Nodes, "\n"))
			}
		})
	}
}

type violation struct {
	ID, Help string
	Nodes    []string
}

func violations(p *tab) []violation {
	p.Helper()
	p.do(chromedp.Evaluate[chromedp.Void]("window.found = '', axe.run().then((result) => { window.found = JSON.stringify(result.violations.map((one) => ({ID: one.id, Help: one.help, Nodes: one.nodes.slice(0, 5).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary)}))) }), ''"))
	p.until("window.found")
	text := ask[string](p, "window.found")
	var found []violation
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		p.Fatal(err)
	}
	return found
}

// Names come from people, also those that a script shows.
func TestHostileNamesStayNames(t *testing.T) {
	const evil = `</script><img src=x onerror=alert(1)>`
	text, err := json.Marshal(recorded.Experiment(seed))
	if err != nil {
		t.Fatal(err)
	}
	var input report.Input
	if err := json.Unmarshal([]byte(foreign(t, string(text), map[string]string{recorded.Twin: evil})), &input); err != nil {
		t.Fatal(err)
	}
	p := browse(t, file(t, written(t, reportOf(t, input), "report.html")), 1280, 800).open("")
	p.liveChart(0)
	p.pointAt(0, 0.5)
	p.until("document.querySelector('figure.live .tooltip').innerText.includes(" + quoted(evil) + ")")
	p.must("[...document.querySelectorAll('.arms button')].some((one) => one.innerText.trim() === " + quoted(evil) + ")")
	p.must("!document.querySelector('img')")
}

// A reader turns the light off, or the phone: charts follow.
func TestChartsFollowLightAndSize(t *testing.T) {
	p := livePage(t)
	p.liveChart(0)
	const pixels = "document.querySelector('figure.live canvas').toDataURL()"
	before := quoted(ask[string](p, pixels))
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}})
	p.until(pixels + " !== " + before)
	p.do(chromedp.EmulateViewport(500, 900))
	p.until("(({width}, figure) => width > 300 && width <= figure.width)(document.querySelector('figure.live .uplot').getBoundingClientRect(), document.querySelector('figure.live').getBoundingClientRect())")
}
