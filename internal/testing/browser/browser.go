// SPDX-License-Identifier: Apache-2.0

// Package browser opens pages in a Chromium for tests.
package browser

import (
	"context"
	_ "embed" // The checker of accessibility.
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
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
	"perflab.dev/perflab/internal/testing/expect"
)

// Text is the expression for the page's visible text. A page that is still loading has no
// body.
const Text = "(document.body?.innerText ?? '')"

//go:embed axe/axe.min.js
var axe string

// height of a tab, in pixels.
const height = 800

// Tab is a page in a browser, with its problems.
type Tab struct {
	*testing.T
	ctx context.Context
	// own are the page's address and its allowed requests.
	own      []string
	mu       sync.Mutex
	problems []string
	offline  bool
}

// New opens an empty tab for the page at an address, and skips the test without a browser.
// The test fails if the page fetches anything except itself and the further addresses, or
// if the browser reports an error or a warning.
func New(t *testing.T, width int64, address string, further ...string) *Tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	opened := &Tab{T: t, own: append([]string{address}, further...)}
	ctx, closeTab := chromedp.NewContext(allocator, chromedp.WithListener(opened.hear))
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
	opened.ctx = ctx
	Call(opened, network.Enable, network.EnableParams{})
	Call(opened, log.Enable, cdp.Empty{})
	opened.Do(chromedp.EmulateViewport(width, height))
	t.Cleanup(opened.report)
	return opened
}

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

func (p *Tab) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		// The browser reports a picture inside the page as a request, too.
		if at, _, _ := strings.Cut(event.Request.URL, "#"); !slices.Contains(p.own, at) && !strings.HasPrefix(at, "data:image/") {
			p.problem("it fetches %s", event.Request.URL)
		}
	case *log.EventEntryAdded:
		if !p.offline {
			p.problem("%s: %s (%s)", event.Entry.Level, event.Entry.Text, event.Entry.URL)
		}
	case *runtime.EventExceptionThrown:
		p.problem("%s: %+v", event.ExceptionDetails.Text, event.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		p.problem("it writes to the console: %s", event.Type)
	}
}

func (p *Tab) problem(format string, arguments ...any) {
	p.problems = append(p.problems, fmt.Sprintf(format, arguments...))
}

func (p *Tab) report() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, problem := range p.problems {
		p.Errorf("the page: %s", problem)
	}
}

// ExpectOffline ignores failed requests from now on.
func (p *Tab) ExpectOffline() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.offline = true
}

// Do carries out actions.
func (p *Tab) Do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	expect.NoError(p, chromedp.Do(p.ctx, actions...))
}

// Resize the tab to a width.
func (p *Tab) Resize(width int64) {
	p.Helper()
	p.Do(chromedp.EmulateViewport(width, height))
}

// Open loads the page, at a fragment of it.
func (p *Tab) Open(fragment string) *Tab {
	p.Helper()
	p.Do(chromedp.Navigate(p.own[0] + fragment))
	return p
}

// Eval evaluates an expression for its effect.
func (p *Tab) Eval(expression string) {
	p.Helper()
	p.Do(chromedp.Evaluate[chromedp.Void](expression))
}

// Call sends a command to the browser.
func Call[P, R any](p *Tab, command cdp.Command[P, R], params P) R {
	p.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	expect.NoError(p, err)
	return result
}

// Ask returns the value of an expression.
func Ask[T any](p *Tab, expression string) T {
	p.Helper()
	result, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	expect.NoError(p, err, "%s", expression)
	return result
}

// Until waits for an expression to be true.
func (p *Tab) Until(expression string) {
	p.Helper()
	await.Until(p.Context(), p.T, time.Minute, expression, func() (bool, string) {
		if p.holds(expression) {
			return true, ""
		}
		return false, Ask[string](p, Text+".slice(0, 2000)")
	})
}

// Must fails the test unless an expression is true now.
func (p *Tab) Must(expression string) {
	p.Helper()
	if !p.holds(expression) {
		p.Errorf("the expression is not true: %s", expression)
	}
}

func (p *Tab) holds(expression string) bool {
	p.Helper()
	return Ask[bool](p, "!!("+expression+")")
}

// WithoutScripts makes the page run no scripts. Eval and Ask still work.
func (p *Tab) WithoutScripts() {
	p.Helper()
	Call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Prefer a colour scheme, light or dark.
func (p *Tab) Prefer(scheme string) {
	p.Helper()
	Call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// Accessible fails the test for each axe-core rule that the page breaks.
func (p *Tab) Accessible() {
	p.Helper()
	p.Eval(axe)
	p.Eval("window.found = '', axe.run().then((result) => { window.found = JSON.stringify(result.violations.map((one) => ({ID: one.id, Help: one.help, Nodes: one.nodes.slice(0, 5).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary)}))) }), ''")
	p.Until("window.found")
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	expect.NoError(p, json.Unmarshal([]byte(Ask[string](p, "window.found")), &violations))
	for _, violation := range violations {
		p.Errorf("%s: %s\n%s", violation.ID, violation.Help, strings.Join(violation.Nodes, "\n"))
	}
}
