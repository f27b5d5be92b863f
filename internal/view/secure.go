// SPDX-License-Identifier: Apache-2.0

package view

import (
	"net"
	"net/http"
	"slices"
	"strings"
)

// Loopback are the host names of a local server.
var Loopback = []string{"127.0.0.1", "localhost", "::1"}

// Secure passes on only GET and HEAD requests to one of these hosts. Checking the host
// prevents DNS rebinding, where a page on the internet resolves its own name to this server.
// Responses can't be framed, cached or sniffed.
func Secure(hosts []string, next http.Handler) http.Handler {
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
		case !slices.Contains(hosts, hostname(r.Host)):
			http.Error(w, "This host name is not allowed; an administrator can add it to the allowed hosts.", http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "This page is read-only.", http.StatusMethodNotAllowed)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// hostname returns a host without its port.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}
