// SPDX-License-Identifier: Apache-2.0

package view

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// Loopback are the names by which a browser on the same machine calls a server.
var Loopback = []string{"127.0.0.1", "localhost", "::1"}

// Guard lets nothing through but questions, and only those to a host of one of
// these names: a page on the internet whose name is suddenly said to be here (DNS
// rebinding) asks for its own. What is answered can't be framed, kept or taken for
// something else.
func Guard(hosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		switch {
		case !slices.Contains(hosts, hostOf(r.Host)):
			http.Error(w, "This server is not known by that name; the one who started it can add it to its hosts.", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "This page is for reading.", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostOf is the name without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
