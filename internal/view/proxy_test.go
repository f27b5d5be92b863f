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

// apiServer passes requests on as the API server does for services/proxy: by the same
// code, under a path of its own, with the name it was called by.
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
		proxyutil.NewUpgradeAwareHandler(location, transport, false, false, failed{t}).ServeHTTP(w, r)
	}))
	t.Cleanup(served.Close)
	return served
}

type failed struct{ *testing.T }

func (f failed) Error(_ http.ResponseWriter, _ *http.Request, err error) { f.T.Error(err) }

// parsed is a page as a browser reads it. The API server writes some elements anew,
// which changes the spelling of their attributes.
func parsed(t *testing.T, page string) string {
	t.Helper()
	tree, err := html.Parse(strings.NewReader(page))
	expect.NoError(t, err)
	var out strings.Builder
	expect.NoError(t, html.Render(&out, tree))
	return out.String()
}

// The API server rewrites what it passes on; the page comes through all the same, with
// its policy and the scripts that this lets run, and what it asks for is found below the path.
func TestThePagesComeThroughTheAPIServer(t *testing.T) {
	const name = "api.example.org"
	direct := newBuilding("one")
	front := apiServer(t, view.Guard(append(slices.Clone(view.Loopback), name), newBuilding("one")))
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
			want, body = parsed(t, want), parsed(t, body)
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
