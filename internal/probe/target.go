// SPDX-License-Identifier: Apache-2.0

// Package probe asks the running system what it is: whether the load's target
// answers, what Kafka's topics are like, and, of k6 runners, to end. Every
// question has a deadline.
package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// timeout bounds one question. A reconciler waits for it, so it is short.
const timeout = 3 * time.Second

// HTTP asks over HTTP.
type HTTP struct{ client http.Client }

// NewHTTP makes a prober that follows no redirect: a target must answer itself.
func NewHTTP() *HTTP {
	return &HTTP{client: http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Reach returns nil when the address answers with anything but a server error.
func (h *HTTP) Reach(ctx context.Context, url string) error {
	code, err := h.do(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if code >= http.StatusInternalServerError {
		return fmt.Errorf("GET %s answered %d %s", url, code, http.StatusText(code))
	}
	return nil
}

// StopRunner tells the k6 whose REST API is at the address to end its test. It
// delivers its results and exits with 103.
func (h *HTTP) StopRunner(ctx context.Context, address string) error {
	body := []byte(`{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}`)
	url := address + "/v1/status"
	code, err := h.do(ctx, http.MethodPatch, url, body)
	if err != nil {
		return err
	}
	if code != http.StatusOK {
		return fmt.Errorf("PATCH %s answered %d %s", url, code, http.StatusText(code))
	}
	return nil
}

// do returns the status code of the answer.
func (h *HTTP) do(ctx context.Context, method, url string, body []byte) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("asking %s: %w", url, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := h.client.Do(request)
	if err != nil {
		// The client's error names method and address.
		return 0, err
	}
	// Reading to the end lets the connection be used again.
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, fmt.Errorf("reading the answer of %s: %w", url, err)
	}
	return response.StatusCode, nil
}
