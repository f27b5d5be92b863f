// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"perflab.dev/perflab/internal/text/prose"
)

// Limits of requests and responses.
const (
	requestTime = 2 * time.Minute
	maxAnswer   = 16 << 20
	maxTries    = 5
	// maxWait limits a wait that a server requests; a longer one is an error.
	maxWait = time.Minute
)

var (
	// ErrServer means that a server rejected a request or can't be reached.
	ErrServer = errors.New("can't publish to the server")
	errURL    = fmt.Errorf("%w: its URL", ErrServer)
)

// client sends requests to one server, as one user.
type client struct {
	http *http.Client
	base *url.URL
	// authorization is the header; secrets must not be in any message.
	authorization string
	secrets       []string
	headers       map[string]string
	// patient allows for a recently created object that not all endpoints have yet.
	patient bool
	// pause waits between attempts.
	pause func(context.Context, time.Duration) error
}

// newClient rejects an address to which the login would be sent unencrypted.
func newClient(address, authorization string, secrets ...string) (*client, error) {
	base, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("%w is invalid: write https://HOST", errURL)
	}
	switch {
	case base.User != nil:
		return nil, fmt.Errorf("%w contains a user: URLs end up in logs, so put the login into the environment or a file", errURL)
	case base.RawQuery != "" || base.Fragment != "":
		return nil, fmt.Errorf("%w has a query or a fragment: write https://HOST", errURL)
	case base.Scheme != "https" && (base.Scheme != "http" || !isLoopback(base.Hostname())):
		return nil, fmt.Errorf("%w %s must begin with https://: the login would be sent in plain text", errURL, base.Redacted())
	}
	return &client{
		http: &http.Client{
			Timeout: requestTime,
			// The login is sent only to the named server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		base: base, authorization: authorization, secrets: secrets, pause: pause,
	}, nil
}

func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// request to a server.
type request struct {
	method, path string
	query        url.Values
	body         []byte
	// kind of the body.
	kind    string
	headers map[string]string
}

// reply of a server.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// statusError is a reply with an error status.
type statusError struct {
	what    string
	status  int
	message string
}

func (r *statusError) Error() string {
	return strings.TrimSuffix(fmt.Sprintf("%s: %d %s: %s", r.what, r.status, http.StatusText(r.status), r.message), ": ")
}

func (r *statusError) Unwrap() error { return ErrServer }

// isStatus reports whether the error is a response with this status.
func isStatus(err error, status int) bool {
	var refused *statusError
	return errors.As(err, &refused) && refused.status == status
}

// json sends a value and decodes the response into another; nil: none.
func (c *client) json(ctx context.Context, req request, send, receive any) error {
	if send != nil {
		body, err := json.Marshal(send)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		req.body, req.kind = body, "application/json"
	}
	got, err := c.do(ctx, req)
	if err != nil || receive == nil {
		return err
	}
	if err := json.Unmarshal(got.body, receive); err != nil {
		return fmt.Errorf("%w: %s %s: its response can't be read: %w", ErrServer, req.method, req.path, err)
	}
	return nil
}

// do retries a request within its limits.
func (c *client) do(ctx context.Context, req request) (*reply, error) {
	for try := 1; ; try++ {
		got, err := c.send(ctx, req)
		if err != nil {
			return nil, err
		}
		if got.status >= 200 && got.status < 300 {
			return got, nil
		}
		wait, again := c.retryDelay(req.method, got, try)
		if !again {
			return nil, c.newStatusError(req, got)
		}
		if err := c.pause(ctx, wait); err != nil {
			return nil, fmt.Errorf("waiting for the server: %w", err)
		}
	}
}

// retryDelay returns the delay before a retry, and whether to retry. A request that may have
// been executed is not repeated: only a rejected creation is retried.
func (c *client) retryDelay(method string, got *reply, try int) (time.Duration, bool) {
	turnedAway := got.status == http.StatusTooManyRequests || got.status == http.StatusForbidden && got.header.Get("Retry-After") != ""
	unavailable := got.status == http.StatusServiceUnavailable
	failed := got.status == http.StatusInternalServerError || got.status == http.StatusBadGateway || got.status == http.StatusGatewayTimeout
	isRead := method == http.MethodGet
	notYet := c.patient && got.status == http.StatusNotFound
	mayTry := turnedAway || notYet || unavailable && method != http.MethodPost || failed && isRead
	if try >= maxTries || !mayTry {
		return 0, false
	}
	wait := time.Second << (try - 1)
	if requested := retryAfter(got.header.Get("Retry-After")); requested > 0 {
		wait = requested
	}
	return wait, wait <= maxWait
}

// retryAfter reads the header: seconds, or a time.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(header); err == nil {
		return time.Duration(min(seconds, 1<<20)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return 0
}

func (c *client) send(ctx context.Context, req request) (*reply, error) {
	address := c.base.JoinPath(req.path)
	address.RawQuery = req.query.Encode()
	sent, err := http.NewRequestWithContext(ctx, req.method, address.String(), bytes.NewReader(req.body))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	sent.Header.Set("Accept", "application/json")
	sent.Header.Set("User-Agent", "perflab")
	if c.authorization != "" {
		sent.Header.Set("Authorization", c.authorization)
	}
	if req.kind != "" {
		sent.Header.Set("Content-Type", req.kind)
	}
	for _, headers := range []map[string]string{c.headers, req.headers} {
		for name, value := range headers {
			sent.Header.Set(name, value)
		}
	}
	got, err := c.http.Do(sent)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	defer func() { _ = got.Body.Close() }() // It was read, or is of no use.
	body, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("%w: reading its response: %w", ErrServer, err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("%w: its response exceeds %d MiB", ErrServer, maxAnswer>>20)
	}
	return &reply{got.StatusCode, got.Header, body}, nil
}

// newStatusError describes the response in one line without secrets.
func (c *client) newStatusError(req request, got *reply) error {
	message := c.redact(responseMessage(got.body))
	if to := got.header.Get("Location"); got.status >= 300 && got.status < 400 {
		message = "it redirects to " + c.redact(to) + ": use that server if it is correct"
	}
	if wait := retryAfter(got.header.Get("Retry-After")); wait > maxWait {
		message = strings.TrimSuffix(fmt.Sprintf("it requests a wait of %s: try again then. %s", prose.Duration(wait), message), ". ")
	}
	return &statusError{what: req.method + " " + req.path, status: got.status, message: prose.Sentence(message)}
}

// responseMessage returns the message in a response, in the formats of Confluence and GitHub.
// An HTML page has none.
func responseMessage(body []byte) string {
	var form struct {
		Message string            `json:"message"`
		Errors  []json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &form) != nil {
		return ""
	}
	words := []string{form.Message}
	for _, one := range form.Errors {
		var detailed struct{ Title, Message, Detail string }
		var plain string
		if json.Unmarshal(one, &detailed) != nil {
			_ = json.Unmarshal(one, &plain) // Anything else is no readable message.
		}
		words = append(words, plain, cmp.Or(detailed.Title, detailed.Message), detailed.Detail)
	}
	return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
}

func (c *client) redact(text string) string {
	for _, secret := range c.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
