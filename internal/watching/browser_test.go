// SPDX-License-Identifier: Apache-2.0

package watching_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"perflab.dev/perflab/internal/testing/await"
)

// chromium finds the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "chromium is not installed: install it with \"apt-get install chromium\" to test the page in a browser"
	if os.Getenv("PERFLAB_REQUIRE_CHROMIUM") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// tab shows the living page.
type tab struct {
	*testing.T
	ctx      context.Context
	address  string
	mu       sync.Mutex
	problems []string
	// silent: nobody serves the page, which the browser complains about.
	silent bool
}

// browse opens an empty tab of a width. At the end the page must not have asked
// anybody but its own server, nor have gone wrong.
func browse(t *testing.T, address string, width int64) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	opened := &tab{T: t, address: address}
	ctx, closeTab := chromedp.NewContext(allocator, chromedp.WithListener(opened.hear))
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	opened.ctx = ctx
	call(opened, network.Enable, network.EnableParams{})
	call(opened, log.Enable, cdp.Empty{})
	opened.do(chromedp.EmulateViewport(width, 800))
	t.Cleanup(func() {
		opened.mu.Lock()
		defer opened.mu.Unlock()
		for _, problem := range opened.problems {
			t.Errorf("the page: %s", problem)
		}
	})
	return opened
}

func (p *tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	problem := ""
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		if path, own := strings.CutPrefix(event.Request.URL, p.address); !own || path != "" && path != "state" {
			problem = "it fetches " + event.Request.URL
		}
	case *log.EventEntryAdded:
		if !p.silent {
			problem = fmt.Sprintf("%s: %s (%s)", event.Entry.Level, event.Entry.Text, event.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		problem = fmt.Sprintf("%s: %+v", event.ExceptionDetails.Text, event.ExceptionDetails.Exception)
	}
	if problem != "" {
		p.problems = append(p.problems, problem)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.Fatal(err)
	}
	return result
}

func ask[T any](p *tab, expression string) T {
	p.Helper()
	result, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return result
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.Helper()
	await.Until(p.Context(), p.T, time.Minute, expression, func() (bool, string) {
		if ask[bool](p, "!!("+expression+")") {
			return true, ""
		}
		return false, ask[string](p, text)
	})
}

func (p *tab) must(expression string) {
	p.Helper()
	if !ask[bool](p, "!!("+expression+")") {
		p.Errorf("it is not so: %s", expression)
	}
}

// A page that is just being loaded has no body.
const text = "(document.body?.innerText ?? '')"

// The page follows the experiment by itself to the end, where it is the report; what
// does not change is not touched.
func TestThePageLives(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	address, _ := l.serve(server.Config(t))
	l.read(address, l.run.Name)
	p := browse(t, address, 1280)
	p.do(chromedp.Navigate(address))
	p.until(text + ".includes('0 of 36')")
	p.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('#part-answer').firstElementChild.untouched = true"))
	l.tell(10, "417", "0")
	p.until(text + ".includes('Check-In 417 ms')")
	l.tell(30, "2431", "1.5")
	p.until(text + ".includes('Check-In 2431 ms') && " + text + ".includes('1.5 %')")
	p.until("document.querySelectorAll('#part-now figure svg').length === 4")
	p.must("document.querySelector('#part-answer').firstElementChild.untouched")
	p.until("/\\d s ago|in \\d+ s/.test(document.querySelector('#part-now time').textContent)")
	p.must("document.querySelector('#headline').textContent === 'Running, 0 of 36 runs are done.'")
	l.end(0)
	p.until("document.querySelector('progress').value === 1 && document.querySelector('#headline').textContent.includes('1 of 36 runs')")
	p.until("!document.querySelector('#part-answer').firstElementChild.untouched")
	l.complete()
	p.until("document.querySelector('nav a[href=\"#recommendations\"]') && document.querySelector('.card')")
}

// The focus and the place in a table stay where they are when the part is replaced.
func TestReadersKeepTheirPlace(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	l.tell(10, "417", "0")
	address, _ := l.serve(server.Config(t))
	l.read(address, "Check-In 417 ms")
	p := browse(t, address, 400)
	p.do(chromedp.Navigate(address))
	const table = "document.querySelector('#part-now .scroll')"
	p.until(table)
	p.do(chromedp.Evaluate[chromedp.Void](table + ".focus(), " + table + ".scrollLeft = 40"))
	l.tell(30, "431", "0")
	p.until(text + ".includes('Check-In 431 ms')")
	p.must("document.activeElement === " + table)
	p.must(table + ".scrollLeft === 40")
	p.must("document.documentElement.scrollWidth <= 400")
}

// Who serves the page may go: it says so, and goes on when it is there again.
func TestTheServerGoes(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	l.tell(10, "417", "0")
	address, served := l.serve(server.Config(t))
	l.read(address, "Check-In 417 ms")
	p := browse(t, address, 1280)
	p.do(chromedp.Navigate(address))
	p.until(text + ".includes('Check-In 417 ms')")
	p.mu.Lock()
	p.silent = true
	p.mu.Unlock()
	served.CloseClientConnections()
	served.Close()
	p.until("document.querySelector('[role=alert]')?.innerText.includes('Nobody serves this page')")
	p.must(text + ".includes('Check-In 417 ms')")
}

// Without scripts the page loads itself anew.
func TestWithoutScripts(t *testing.T) {
	l := newLab(t)
	l.begin(0)
	l.tell(10, "417", "0")
	address, _ := l.serve(server.Config(t))
	l.read(address, "Check-In 417 ms")
	p := browse(t, address, 400)
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	p.do(chromedp.Navigate(address))
	p.until(text + ".includes('Check-In 417 ms')")
	l.tell(30, "431", "0")
	p.until(text + ".includes('Check-In 431 ms')")
}

// axe-core finds what keeps people from reading the page.
func TestAccessibility(t *testing.T) {
	axe, err := os.ReadFile("../report/testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
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
	l.read(address, "does not answer")
	for scheme, width := range map[string]int64{"light": 1280, "dark": 400} {
		t.Run(scheme, func(t *testing.T) {
			p := browse(t, address, width)
			call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
			p.do(chromedp.Navigate(address), chromedp.Evaluate[chromedp.Void](string(axe)))
			p.must("document.documentElement.scrollWidth <= innerWidth")
			p.must("document.querySelectorAll('#part-now figure svg').length === 4")
			p.do(chromedp.Evaluate[chromedp.Void]("window.found = '', axe.run().then((result) => { window.found = JSON.stringify(result.violations.map((one) => one.id + ': ' + one.help + ' ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary).join(' ')), null, 1) }), ''"))
			p.until("window.found")
			if found := ask[string](p, "window.found"); found != "[]" {
				t.Error(found)
			}
		})
	}
}
