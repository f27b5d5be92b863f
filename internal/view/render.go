// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"time"

	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/report"
)

var (
	//go:embed templates
	templates embed.FS
	//go:embed assets/view.js
	script string
	//go:embed assets/view.css
	style string
)

// policy lets the page run its own script and ask its own server, nothing else.
// frame-ancestors counts in a header only, which is where this stands.
var policy = func() string {
	digest := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// parts of the page, each of which is replaced when it changes.
var parts = []string{"notices", "progress", "now", "answer", "runs", "seen"}

// part as the page has it. The digest tells whether it is another.
type part struct {
	Digest string        `json:"digest"`
	HTML   template.HTML `json:"html"`
}

// state is what an open page asks for.
type state struct {
	Title    string `json:"title"`
	Headline string `json:"headline"`
	// Complete: there is a report to be shown in the page's place.
	Complete bool `json:"complete"`
	// Ended: nothing will change any more.
	Ended bool            `json:"ended"`
	Parts map[string]part `json:"parts"`
}

// rendered is a page in both forms.
type rendered struct {
	page, state []byte
	// tag tells states apart.
	tag string
}

func render(s Sight, shown page, now time.Time) (*rendered, error) {
	parsed, err := template.New("view.html").Funcs(functions(now)).ParseFS(templates, "templates/view.html")
	if err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	current := state{Title: shown.Title, Headline: shown.Headline, Complete: s.isComplete(), Ended: s.Gone, Parts: map[string]part{}}
	for _, name := range parts {
		var out bytes.Buffer
		if err := parsed.ExecuteTemplate(&out, name, shown); err != nil {
			return nil, fmt.Errorf("writing %s: %w", name, err)
		}
		text := prose.Printable(out.String())
		current.Parts[name] = part{digestOf([]byte(text))[:16], template.HTML(text)} //nolint:gosec // The template has escaped it.
	}
	result := &rendered{}
	if result.state, err = json.Marshal(current); err != nil {
		return nil, fmt.Errorf("encoding the state: %w", err)
	}
	result.tag = `"` + digestOf(result.state)[:32] + `"`
	var out bytes.Buffer
	if err := parsed.Execute(&out, whole{current, shown, result.tag}); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	result.page = []byte(prose.Printable(out.String()))
	return result, nil
}

// whole page.
type whole struct {
	State state
	Page  page
	Tag   string
}

func functions(now time.Time) template.FuncMap {
	return template.FuncMap{
		"look":   report.Style,
		"style":  func() template.CSS { return template.CSS(style) }, //nolint:gosec // Our own file.
		"script": func() template.JS { return template.JS(script) },  //nolint:gosec // Our own file.
		"order":  func() []string { return parts },
		"clock":  func(at time.Time) string { return clock(at, now) },
		"minute": func(at time.Time) string { return minute(at, now) },
		"stamp":  func(at time.Time) string { return at.UTC().Format(time.RFC3339) },
	}
}

func digestOf(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
