// SPDX-License-Identifier: AGPL-3.0-only

package output

import (
	"testing"

	"perflab.dev/perflab/payload"
)

func TestRequestName(t *testing.T) {
	for _, tc := range []struct{ name, method, want string }{
		{"GET /inventory/items", "GET", "GET /inventory/items"},
		{"http://user:secret@gateway.lab.svc:8081/inventory/items?limit=10&token=secret", "GET", "GET /inventory/items"},
		{"https://gateway/a%20b#c", "POST", "POST /a%20b"},
		{"items by title", "GET", "GET items by title"},
		{"/login", "", "/login"},
		{"", "GET", payload.Other},
		{"", "", payload.Other},
	} {
		if got := requestName(tc.name, tc.method); got != tc.want {
			t.Errorf("%q by %s is %q, want %q", tc.name, tc.method, got, tc.want)
		}
	}
}
