// SPDX-License-Identifier: Apache-2.0

package view

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"perflab.dev/perflab/internal/report/elements"
)

var (
	//go:embed assets/view.js
	script string
	//go:embed assets/view.css
	style string
)

// policy allows the page its own script and requests to its own server, nothing else. Browsers
// honor frame-ancestors only in a header.
var policy = func() string {
	digest := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// part of the page. Its digest changes with its content.
type part struct {
	Digest string `json:"digest"`
	HTML   string `json:"html"`
}

// state is the response to an open page.
type state struct {
	Title    string `json:"title"`
	Headline string `json:"headline"`
	// Complete means that the report can replace the page.
	Complete bool `json:"complete"`
	// Ended means that nothing changes any more.
	Ended bool            `json:"ended"`
	Parts map[string]part `json:"parts"`
}

// rendered is a page in both forms.
type rendered struct {
	page, state []byte
	// tag is the ETag of the state.
	tag string
}

func render(s Snapshot, shown *page, now time.Time) (*rendered, error) {
	current := &state{Title: shown.Title, Headline: shown.Headline, Complete: s.isComplete(), Ended: s.Deleted, Parts: map[string]part{}}
	for _, one := range parts {
		text, err := elements.Bytes(one.write(writer{now}, shown))
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", one.name, err)
		}
		current.Parts[one.name] = part{hexDigest(text)[:16], string(text)}
	}
	result := &rendered{}
	var err error
	if result.state, err = json.Marshal(current); err != nil {
		return nil, fmt.Errorf("encoding the state: %w", err)
	}
	result.tag = `"` + hexDigest(result.state)[:32] + `"`
	if result.page, err = elements.Bytes(pageDocument(shown, current, result.tag)); err != nil {
		return nil, fmt.Errorf("writing the page: %w", err)
	}
	return result, nil
}

func hexDigest(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
