// SPDX-License-Identifier: Apache-2.0

package redact_test

import (
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/text/redact"
)

func TestHide(t *testing.T) {
	cases := map[string]struct{ setting, value, want string }{
		"Plain":            {"modules[users].env[POOL]", "5", "5"},
		"Password":         {"modules[users].env[DB_PASSWORD]", "hunter2", "(not shown)"},
		"NotSet":           {"modules[users].env[DB_PASSWORD]", "", ""},
		"SecretiveModule":  {"modules[mod-authtoken].replicas", "27", "27"},
		"PasswordInTheURL": {"measurement.prometheus.url", "http://me:hunter2@here", "http://(not shown)@here"},
		"PasswordInJDBC":   {"env[DB_URL]", "jdbc:postgresql://h/db?user=u&password=hunter2&ssl=on", "jdbc:postgresql://h/db?user=u&password=(not shown)&ssl=on"},
		"PasswordInLibpq":  {"env[DB]", `host=h password='hunt er2\'s' dbname=d`, "host=h password=(not shown) dbname=d"},
		"PasswordFirst":    {"env[DB]", "PASSWORD=hunter2", "PASSWORD=(not shown)"},
		"PasswordInODBC":   {"env[DB]", "Server=h;Pwd=hunter2;Uid=u", "Server=h;Pwd=(not shown);Uid=u"},
		"NoPassword":       {"env[OPTS]", "-Dpassword.length=5", "-Dpassword.length=5"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, redact.Hide(tc.setting, tc.value), "%s is told as", tc.setting)
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
		`connect("host=h password=hunter2 port=1")`:      `connect("host=h password=(not shown) port=1")`,
		"no way to jdbc:postgresql://h/d?password=x y":   "no way to jdbc:postgresql://h/d?password=(not shown) y",
		"const headers = login.headers['X-Okapi-Token']": "const headers = login.headers['X-Okapi-Token']",
	} {
		expect.Equal(t, want, redact.HideInText(text), "%s", text)
	}
}
