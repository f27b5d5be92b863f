// SPDX-License-Identifier: Apache-2.0

package sinks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"perflab.dev/perflab/internal/publish/announcement"
	"perflab.dev/perflab/internal/text/prose"
)

// grafanaSink is a Grafana whose dashboards show where a series changed: an annotation of
// the whole organization, which any dashboard can show by its tags.
type grafanaSink struct{ *caller }

// Wants accepts changes of series, which have a place on a time axis.
func (*grafanaSink) Wants(message announcement.Announcement) bool { return message.Change != nil }

// annotation in Grafana's HTTP API.
type annotation struct {
	Time int64    `json:"time"`
	Tags []string `json:"tags"`
	Text string   `json:"text"`
}

// Send posts an annotation unless it exists: Grafana accepts duplicates, and an earlier
// response may have been lost.
func (g *grafanaSink) Send(ctx context.Context, message announcement.Announcement) error {
	ctx, stop := context.WithTimeout(ctx, callTime)
	defer stop()
	change := message.Change
	marked := "perflab-id:" + message.ID
	known, err := g.has(ctx, change.Time.UnixMilli(), marked)
	if known || err != nil {
		return err
	}
	body, err := json.Marshal(annotation{
		Time: change.Time.UnixMilli(),
		Tags: []string{"perflab", message.Namespace, change.Experiments[1], strings.ToLower(string(change.Verdict)), marked},
		// Grafana shows the text as HTML, and users choose the names of releases.
		Text: html.EscapeString(prose.Printable(fmt.Sprintf("%s: %s.", change.Sentence, change.Verdict))),
	})
	if err != nil {
		return fmt.Errorf("writing the annotation: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.annotations().String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("writing the annotation: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	_, err = g.call(request)
	return err
}

// has reports whether the annotation exists.
func (g *grafanaSink) has(ctx context.Context, at int64, marked string) (bool, error) {
	address := g.annotations()
	address.RawQuery = url.Values{
		"from": {strconv.FormatInt(at-1, 10)}, "to": {strconv.FormatInt(at+1, 10)},
		"type": {"annotation"}, "limit": {"1"}, "tags": {"perflab", marked},
	}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return false, fmt.Errorf("looking up the annotation: %w", err)
	}
	body, err := g.call(request)
	if err != nil {
		return false, err
	}
	var found []struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return false, fmt.Errorf("%w: the server is not Grafana", ErrRefuses)
	}
	return len(found) > 0, nil
}

func (g *grafanaSink) annotations() *url.URL { return g.target.JoinPath("api", "annotations") }
