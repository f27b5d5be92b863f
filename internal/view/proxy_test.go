// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	proxyutil "k8s.io/apimachinery/pkg/util/proxy"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/view"
)

const proxied = "/api/v1/namespaces/perflab-system/services/perflab-view:http/proxy"

// apiServer proxies requests with the code of the API server's services/proxy, under a path of
// its own.
func apiServer(t *testing.T, pages http.Handler) *httptest.Server {
	t.Helper()
	pod := httptest.NewServer(pages)
	t.Cleanup(pod.Close)
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest, below := strings.CutPrefix(r.URL.Path, proxied)
		if !below {
			http.NotFound(w, r)
			return
		}
		location, err := url.Parse(pod.URL + rest)
		if err != nil {
			t.Error(err)
			return
		}
		transport := &proxyutil.Transport{Scheme: "http", Host: r.Host, PathPrepend: proxied, RoundTripper: http.DefaultTransport}
		proxyutil.NewUpgradeAwareHandler(location, transport, false, false, failingErrorHandler{t}).ServeHTTP(w, r)
	}))
	t.Cleanup(served.Close)
	return served
}

type failingErrorHandler struct{ *testing.T }

func (f failingErrorHandler) Error(_ http.ResponseWriter, _ *http.Request, err error) { f.T.Error(err) }

// browserHTML parses and renders a page as a browser does. The API server rewrites some
// elements, which changes the spelling of their attributes.
func browserHTML(t *testing.T, page string) string {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(page))
	expect.NoError(t, err)
	var out strings.Builder
	expect.NoError(t, html.Render(&out, tree))
	return out.String()
}

// The API server rewrites pages. Their policy still allows their script, and their addresses
// resolve below the proxy's path.
func TestPagesWorkThroughAPIServerProxy(t *testing.T) {
	const name = "api.example.org"
	direct := newTestServer("one")
	front := apiServer(t, view.Secure(append(slices.Clone(view.Loopback), name), newTestServer("one")))
	through := func(host, path string) (int, http.Header, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL+proxied+path, nil)
		expect.NoError(t, err)
		request.Host = host
		answer, err := http.DefaultTransport.RoundTrip(request)
		expect.NoError(t, err)
		body, err := io.ReadAll(answer.Body)
		expect.NoError(t, errors.Join(err, answer.Body.Close()))
		return answer.StatusCode, answer.Header, string(body)
	}
	for _, path := range []string{"/", "/lab/one/", "/lab/one/state", "/lab/one/report"} {
		code, header, body := through(name+":6443", path)
		want := get(direct, path).Body.String()
		if header.Get("Content-Type") != "application/json" {
			want, body = browserHTML(t, want), browserHTML(t, body)
		}
		if code != http.StatusOK || body != want {
			t.Errorf("%s: %d, (-direct +through):\n%s", path, code, cmp.Diff(strings.Split(want, "\n"), strings.Split(body, "\n")))
		}
		if header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s: the policy is lost", path)
		}
	}
	if code, header, _ := through(name, "/lab/one"); code != http.StatusPermanentRedirect || header.Get("Location") != "one/" {
		t.Errorf("%d, to %q", code, header.Get("Location"))
	}
	if code, _, body := through("attacker.example", "/lab/one/"); code != http.StatusMisdirectedRequest {
		t.Errorf("%d: %.100s", code, body)
	}
}
