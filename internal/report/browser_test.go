// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/recorded"
)

// requireChromium is the variable that makes a missing browser a failure.
const requireChromium = "PERFLAB_REQUIRE_CHROMIUM"

// chromium finds the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "chromium is not installed: install it with \"apt-get install chromium\" to test the page in a browser"
	if os.Getenv(requireChromium) != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

// tab is a page in a browser, and what it complained about or asked for.
type tab struct {
	*testing.T
	ctx context.Context
	// address of the page.
	address  string
	mu       sync.Mutex
	problems []string
}

// file is a page as a file, which a browser can open.
func file(t *testing.T, page string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// browse opens an empty tab of a size; at its end nothing may have been fetched but
// the page, and nothing may have gone wrong.
func browse(t *testing.T, address string, width, height int64) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	opened := &tab{T: t, address: address}
	ctx, closeTab := chromedp.NewContext(allocator, chromedp.WithListener(opened.hear))
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	opened.ctx = ctx
	call(opened, network.Enable, network.EnableParams{})
	call(opened, log.Enable, cdp.Empty{})
	opened.do(chromedp.EmulateViewport(width, height))
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
	problem := ""
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		// A picture that the page holds is asked for, and nobody is.
		if at, _, _ := strings.Cut(event.Request.URL, "#"); at != p.address && !strings.HasPrefix(at, "data:image/") {
			problem = "it fetches " + event.Request.URL
		}
	case *log.EventEntryAdded:
		problem = fmt.Sprintf("%s: %s", event.Entry.Level, event.Entry.Text)
	case *runtime.EventExceptionThrown:
		problem = fmt.Sprintf("%s: %+v", event.ExceptionDetails.Text, event.ExceptionDetails.Exception)
	case *runtime.EventConsoleAPICalled:
		problem = fmt.Sprintf("it writes to the console: %s", event.Type)
	}
	if problem != "" {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.problems = append(p.problems, problem)
	}
}

func (p *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// call a command of the browser's.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.Helper()
	result, err := chromedp.Call(p.ctx, command, params)
	if err != nil {
		p.Fatal(err)
	}
	return result
}

// open the page, at an address within it.
func (p *tab) open(fragment string) *tab {
	p.Helper()
	p.do(chromedp.Navigate(p.address + fragment))
	return p
}

// ask evaluates an expression into what result points at.
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
	await.Until(p.Context(), p.T, 20*time.Second, expression, func() (bool, string) { return ask[bool](p, "!!("+expression+")"), "false" })
}

// must be true now.
func (p *tab) must(expression string) {
	p.Helper()
	if !ask[bool](p, "!!("+expression+")") {
		p.Errorf("it is not so: %s", expression)
	}
}

func quoted(text string) string { return asJSON(text) }

// asJSON is a value as a script has it.
func asJSON(value any) string {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(body)
}

// livePage is the recorded experiment, opened.
func livePage(t *testing.T) *tab {
	t.Helper()
	return browse(t, file(t, written(t, reportOf(t, recorded.Experiment(seed)), "report.html")), 1280, 800).open("")
}
