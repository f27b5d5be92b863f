// SPDX-License-Identifier: Apache-2.0

// Package probe queries the running system: whether the load's target responds, and the
// metrics of PostgreSQL's servers. It also stops k6 runners. Requests have a deadline, follow
// no redirect, and obey the egress rules.
package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"perflab.dev/perflab/internal/network/egress"
)

// timeout bounds one request. It is short because a reconcile waits for it.
const timeout = 3 * time.Second

// HTTP probes over HTTP.
type HTTP struct{ client *http.Client }

// NewHTTP returns a prober within the egress rules.
func NewHTTP(rules egress.Rules) *HTTP { return &HTTP{client: rules.Client(timeout)} }

// Reach returns nil if the address responds with anything but a server error. A redirect is
// a valid response: its target concerns only the load.
func (h *HTTP) Reach(ctx context.Context, url string) error {
	code, err := h.do(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	if code >= http.StatusInternalServerError {
		return checkStatus(http.MethodGet, url, code)
	}
	return nil
}

// checkStatus returns the error of an unexpected response.
func checkStatus(method, url string, code int) error {
	if egress.IsRedirect(code) {
		return fmt.Errorf("%s %s returned a redirect (%d %s), which PerfLab does not follow", method, url, code, http.StatusText(code))
	}
	return fmt.Errorf("%s %s returned %d %s", method, url, code, http.StatusText(code))
}

// StopRunner stops the test of the k6 whose REST API is at the address. k6 writes its results
// and exits with 103.
func (h *HTTP) StopRunner(ctx context.Context, address string) error {
	body := []byte(`{"data":{"type":"status","id":"default","attributes":{"stopped":true}}}`)
	url := address + "/v1/status"
	code, err := h.do(ctx, http.MethodPatch, url, body)
	if err != nil {
		return err
	}
	if code != http.StatusOK {
		return checkStatus(http.MethodPatch, url, code)
	}
	return nil
}

// do returns the status code of the response.
func (h *HTTP) do(ctx context.Context, method, url string, body []byte) (int, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("requesting %s: %w", url, err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := h.client.Do(request)
	if err != nil {
		// The client's error names method and address.
		return 0, err
	}
	// Reading to the end allows the connection to be reused.
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return 0, fmt.Errorf("reading the response of %s: %w", url, err)
	}
	return response.StatusCode, nil
}
