// SPDX-License-Identifier: Apache-2.0

package label_test

import (
	"slices"
	"testing"

	"perflab.dev/perflab/payload/label"
)

// parts are names that tools and users have given to transactions.
var parts = []string{
	"Check-In", "GET /orders", "GET /orders/items", "/orders", "https://host:8443/a?b=c/d", "orders/items", `C:\temp\a`, `\`, `a\/b`,
	"a@b", "GET x", "POST", "p95", "average", "http:", "a // b", "GET http://host/", "ftp://host/a", "Ä/Ö", "duration", "import-1",
}

func TestPathsRoundTrip(t *testing.T) {
	seen := map[string][]string{}
	check := func(path ...string) {
		text := label.Join(path...)
		got, request := label.Cut(text)
		if !slices.Equal(got, path) || request != "" {
			t.Errorf("%q comes back from %q as %q and the request %q", path, text, got, request)
		}
		if other, twice := seen[text]; twice && !slices.Equal(other, path) {
			t.Errorf("%q stands for %q and for %q", text, other, path)
		}
		seen[text] = path
		for _, asked := range []string{"GET /a/b", "https://host/a/p95", "DELETE /x@y", "/login"} {
			got, request := label.Cut(label.Request(text, asked))
			if !slices.Equal(got, path) || request != asked {
				t.Errorf("%q of %q comes back as %q of %q", asked, path, request, got)
			}
		}
	}
	for _, first := range parts {
		check(first)
		for _, second := range parts {
			check(first, second)
			check(first, second, first)
		}
	}
}

func TestJoin(t *testing.T) {
	for want, path := range map[string][]string{
		"Check-In":            {"Check-In"},
		"GET /orders/items":   {"GET /orders/items"},
		"https://host/a":      {"https://host/a"},
		`orders\/items`:       {"orders/items"},
		`GET \/orders/page`:   {"GET /orders", "page"},
		`Search/\GET \/first`: {"Search", "GET /first"},
		"Search/first page":   {" Search", "first page "},
		"(no name)":           {""},
	} {
		if got := label.Join(path...); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// Labels from before the introduction of backslashes are still read.
func TestEarlierLabelsAreRead(t *testing.T) {
	for text, want := range map[string]struct {
		path    []string
		request string
	}{
		"find / a":                  {[]string{"find", "a"}, ""},
		"Check-In/GET /users/5":     {[]string{"Check-In"}, "GET /users/5"},
		"find/https://host/a?b=c/d": {[]string{"find"}, "https://host/a?b=c/d"},
		"http://host/a":             {[]string{"http://host/a"}, ""},
		"":                          {[]string{""}, ""},
	} {
		path, request := label.Cut(text)
		if !slices.Equal(path, want.path) || request != want.request {
			t.Errorf("%q is %q, %q, want %q, %q", text, path, request, want.path, want.request)
		}
	}
}

func TestPlain(t *testing.T) {
	for _, part := range parts {
		if got := label.Plain(label.Join(part)); got != part {
			t.Errorf("%q reads %q", part, got)
		}
	}
}
