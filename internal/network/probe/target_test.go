// SPDX-License-Identifier: Apache-2.0

package probe_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/internal/network/egress"
	"perflab.dev/perflab/internal/network/probe"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/loopback"
)

// newTargetServer starts a server with one response, which records the last request.
func newTargetServer(t *testing.T, status int, headers map[string]string) (address string, asked *string) {
	t.Helper()
	asked = new(string)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestReachAcceptsAnyStatusBelow500(t *testing.T) {
	for status, reached := range map[int]bool{200: true, 204: true, 302: true, 401: true, 404: true, 500: false, 502: false, 503: false} {
		// Redirects lead to an address that does not respond.
		address, asked := newTargetServer(t, status, map[string]string{"Location": "http://127.0.0.1:1/"})
		err := probe.NewHTTP(loopback.Rules()).Reach(t.Context(), address+"/admin/health")
		if (err == nil) != reached {
			t.Errorf("an answer of %d gave %v, want it reached: %t", status, err, reached)
		}
		if err != nil && !strings.Contains(err.Error(), http.StatusText(status)) {
			t.Errorf("an answer of %d gave %q, want it to say so", status, err)
		}
		if !strings.HasPrefix(*asked, "GET /admin/health ") {
			t.Errorf("asked %q", *asked)
		}
	}
}

func TestReachFailsWithoutTarget(t *testing.T) {
	const closed = "http://127.0.0.1:1"
	if err := probe.NewHTTP(loopback.Rules()).Reach(t.Context(), closed); err == nil || !strings.Contains(err.Error(), closed) {
		t.Errorf("a closed port gave %v, want an error that names it", err)
	}
}

func TestReachTimesOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hanging.Close()
	defer close(release)
	begun := time.Now()
	err := probe.NewHTTP(loopback.Rules()).Reach(t.Context(), hanging.URL)
	if took := time.Since(begun); err == nil || took > 8*time.Second {
		t.Errorf("a hanging target gave %v after %s, want an error after about 3s", err, took)
	}
}

func TestStopRunnerUsesK6API(t *testing.T) {
	address, asked := newTargetServer(t, http.StatusOK, nil)
	expect.NoError(t, probe.NewHTTP(loopback.Rules()).StopRunner(t.Context(), address))
	want := `PATCH /v1/status application/json {"data":{"type":"status","id":"default","attributes":{"stopped":true}}}`
	if *asked != want {
		t.Errorf("asked\n%s, want\n%s", *asked, want)
	}
}

// No name of a denied address makes the operator connect to it.
func TestProbesFollowEgressRules(t *testing.T) {
	address, asked := newTargetServer(t, http.StatusOK, nil)
	named := strings.Replace(address, "127.0.0.1", "localhost", 1)
	for _, url := range []string{address, named, "http://169.254.169.254:80", "http://[::ffff:169.254.169.254]:80", "http://0.0.0.0:80"} {
		host := strings.TrimPrefix(url, "http://")
		postgres := probe.NewPostgres(egress.Rules{})
		_, metrics := postgres.Metrics(t.Context(), url+"/metrics")
		for what, err := range map[string]error{
			"Reach": probe.NewHTTP(egress.Rules{}).Reach(t.Context(), url), "StopRunner": probe.NewHTTP(egress.Rules{}).StopRunner(t.Context(), url),
			"Metrics": metrics, "Listens": postgres.Listens(t.Context(), host),
		} {
			if !egress.IsDenied(err) || !strings.Contains(err.Error(), "--allow-targets=") {
				t.Errorf("%s of %s gave %v", what, url, err)
			}
		}
	}
	if *asked != "" {
		t.Errorf("asked %q", *asked)
	}
}

func TestStopRunnerFailsOnErrorStatus(t *testing.T) {
	for _, status := range []int{302, 400, 404, 500} {
		address, _ := newTargetServer(t, status, nil)
		if err := probe.NewHTTP(loopback.Rules()).StopRunner(t.Context(), address); err == nil || !strings.Contains(err.Error(), "/v1/status") {
			t.Errorf("an answer of %d gave %v, want an error that names the address", status, err)
		}
	}
}
