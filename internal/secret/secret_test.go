// SPDX-License-Identifier: Apache-2.0

package secret_test

import (
	"testing"

	"perflab.dev/perflab/internal/secret"
)

func TestHide(t *testing.T) {
	cases := map[string]struct{ setting, value, want string }{
		"Plain":            {"modules[users].env[POOL]", "5", "5"},
		"Password":         {"modules[users].env[DB_PASSWORD]", "hunter2", "(not shown)"},
		"NotSet":           {"modules[users].env[DB_PASSWORD]", "", ""},
		"SecretiveModule":  {"modules[mod-authtoken].replicas", "27", "27"},
		"PasswordInTheURL": {"measurement.prometheus.url", "http://me:hunter2@here", "http://(not shown)@here"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := secret.Hide(tc.setting, tc.value); got != tc.want {
				t.Errorf("%s is told as %q, want %q", tc.setting, got, tc.want)
			}
		})
	}
}

func TestHideInText(t *testing.T) {
	for text, want := range map[string]string{
		"const password = 'hunter2';":                    "const password = (not shown);",
		`{"apiKey": "abc", "limit": "10"}`:               `{"apiKey": (not shown), "limit": "10"}`,
		"headers['X-Okapi-Token'] = `abc`":               "headers['X-Okapi-Token'] = (not shown)",
		"http.get('http://diku:admin@gateway/items')":    "http.get('http://(not shown)@gateway/items')",
		"const password = __ENV.OKAPI_PASSWORD;":         "const password = __ENV.OKAPI_PASSWORD;",
		"const headers = login.headers['X-Okapi-Token']": "const headers = login.headers['X-Okapi-Token']",
	} {
		if got := secret.HideInText(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
