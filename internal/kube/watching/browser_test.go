// SPDX-License-Identifier: Apache-2.0

package watching_test

import (
	"fmt"
	"testing"
	"time"

	"perflab.dev/perflab/internal/testing/browser"
)

// browse opens an empty tab of this width for the live page.
func browse(t *testing.T, address string, width int64) *browser.Tab {
	t.Helper()
	return browser.New(t, width, address, address+"state")
}

// The page updates itself until the experiment is complete, and then shows the report.
// Unchanged parts are not replaced.
func TestPageUpdatesLive(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	address, _ := l.serve(server.Config(t))
	l.read(address, l.run.Name)
	p := browse(t, address, 1280)
	p.Open("")
	p.Until(browser.Text + ".includes('0 of 36')")
	p.Eval("document.querySelector('#part-answer').firstElementChild.untouched = true")
	l.tell(10, "417", "0")
	p.Until(browser.Text + ".includes('Check-In 417 ms')")
	l.tell(20, "900", "0")
	p.Until(browser.Text + ".includes('Check-In 900 ms')")
	p.Must("document.querySelector('#part-now figure svg') === null")
	l.tell(30, "2431", "1.5")
	p.Until(browser.Text + ".includes('Check-In 2431 ms') && " + browser.Text + ".includes('1.5 %')")
	p.Until("document.querySelectorAll('#part-now figure svg').length === 4")
	p.Must("document.querySelector('#part-answer').firstElementChild.untouched")
	p.Until("/\\d s ago|in \\d+ s/.test(document.querySelector('#part-now time').textContent)")
	p.Must("document.querySelector('#headline').textContent === 'Running, 0 of 36 runs are done.'")
	l.end(0)
	p.Until("document.querySelector('progress').value === 1 && document.querySelector('#headline').textContent.includes('1 of 36 runs')")
	p.Until("!document.querySelector('#part-answer').firstElementChild.untouched")
	l.complete()
	p.Until("document.querySelector('nav a[href=\"#recommendations\"]') && document.querySelector('.card')")
}

// The focus and the scroll position in a table survive the replacement of their part.
func TestPageKeepsScrollPosition(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	l.tell(10, "417", "0")
	address, _ := l.serve(server.Config(t))
	l.read(address, "Check-In 417 ms")
	p := browse(t, address, 400)
	p.Open("")
	const table = "document.querySelector('#part-now .scroll')"
	p.Until(table)
	p.Eval(table + ".focus(), " + table + ".scrollLeft = 40")
	l.tell(30, "431", "0")
	p.Until(browser.Text + ".includes('Check-In 431 ms')")
	p.Must("document.activeElement === " + table)
	p.Must(table + ".scrollLeft === 40")
	p.Must("document.documentElement.scrollWidth <= 400")
}

// The page reports that its server is unavailable, and continues when the server is back.
func TestPageSurvivesServerLoss(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	l.tell(10, "417", "0")
	address, served := l.serve(server.Config(t))
	l.read(address, "Check-In 417 ms")
	p := browse(t, address, 1280)
	p.Open("")
	p.Until(browser.Text + ".includes('Check-In 417 ms')")
	p.ExpectOffline()
	served.CloseClientConnections()
	served.Close()
	p.Until("document.querySelector('[role=alert]')?.innerText.includes('The server has not responded')")
	p.Must(browser.Text + ".includes('Check-In 417 ms')")
}

// Without scripts the page reloads itself.
func TestWithoutScripts(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	l.tell(10, "417", "0")
	address, _ := l.serve(server.Config(t))
	l.read(address, "Check-In 417 ms")
	p := browse(t, address, 400)
	p.WithoutScripts()
	p.Open("")
	p.Until(browser.Text + ".includes('Check-In 417 ms')")
	l.tell(30, "431", "0")
	p.Until(browser.Text + ".includes('Check-In 431 ms')")
}

// The page has no accessibility problems that axe-core detects.
func TestAccessibility(t *testing.T) {
	l := newLab(t)
	for number := range 8 {
		l.begin(number)
		l.end(number)
	}
	line, config := lineTo(t, server.Config(t))
	address, _ := l.serve(config)
	l.read(address, "state")
	l.begin(8)
	for at := range 4 {
		l.tell(30*at+10, "417", "0.4")
		l.read(address, fmt.Sprintf("datetime=%q", l.run.Status.Loads[0].Progress.Time.UTC().Format(time.RFC3339)))
	}
	line.cut()
	l.read(address, "has been unavailable since")
	for scheme, width := range map[string]int64{"light": 1280, "dark": 400} {
		t.Run(scheme, func(t *testing.T) {
			p := browse(t, address, width)
			p.Prefer(scheme)
			p.Open("")
			p.Must("document.documentElement.scrollWidth <= innerWidth")
			p.Must("document.querySelectorAll('#part-now figure svg').length === 4")
			p.Accessible()
		})
	}
}
