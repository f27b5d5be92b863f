// SPDX-License-Identifier: AGPL-3.0-only

package tail

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/sirupsen/logrus"

	"perflab.dev/perflab/payload"
)

const password = `pa ss"w&ö/rd+1`

func environment() map[string]string {
	return map[string]string{
		Secrets:    "OKAPI_USERNAME,LOGIN_OF_STORAGE,NOT_THERE",
		"BASE_URL": "http://gateway:8081", "OKAPI_USERNAME": "diku_admin",
		"OKAPI_PASSWORD": password, "LOGIN_OF_STORAGE": "line-one-of-key\nline-two-of-key\n", "EMPTY_SECRET": "",
	}
}

// logged returns the lines that are printed after write has logged.
func logged(t *testing.T, environment map[string]string, write func(*logrus.Logger)) []payload.LogLine {
	t.Helper()
	logger := logrus.New()
	logger.Out = io.Discard
	kept := New(environment)
	logger.AddHook(kept)
	write(logger)
	var out bytes.Buffer
	kept.Print(&out)
	return payload.ReadLog(&out)
}

func TestSecretsAreRedacted(t *testing.T) {
	for name, form := range map[string]string{
		"as it is":              password,
		"quoted":                strconv.Quote(password),
		"in a quote in a quote": strconv.Quote(strconv.Quote(password)),
		"in a query":            url.QueryEscape(password),
		"in a path":             url.PathEscape(password),
		"by encodeURIComponent": "pa%20ss%22w%26%C3%B6%2Frd%2B1",
		"by Go's JSON":          `pa ss\"w\u0026ö/rd+1`,
		"base64":                base64.StdEncoding.EncodeToString([]byte(password)),
		"base64 without end":    base64.RawURLEncoding.EncodeToString([]byte(password)),
		"hexadecimal":           fmt.Sprintf("%x", password),
		"basic authentication":  base64.StdEncoding.EncodeToString([]byte("diku_admin:" + password)),
		"a name from a Secret":  "diku_admin",
		"a line of a key":       "line-two-of-key",
		"a token of the system": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJkaWt1In0.c2lnbmF0dXJl",
		"a bearer's token":      "c29tZXRoaW5nIGVsc2U",
	} {
		t.Run(name, func(t *testing.T) {
			message := "POST answered 401: [" + form + "]"
			if name == "a bearer's token" {
				message = "POST answered 401: [Authorization: Bearer " + form + "]"
			}
			lines := logged(t, environment(), func(logger *logrus.Logger) {
				logger.WithError(errors.New(form)).Warn("Request Failed")
				logger.Error(message)
			})
			if len(lines) != 2 || !strings.Contains(lines[1].Text, "POST answered 401: [") || !strings.Contains(lines[1].Text, hidden) {
				t.Fatalf("told %+v, want both lines, with %s in place of the secret", lines, hidden)
			}
			for _, line := range lines {
				if name != "a bearer's token" && strings.Contains(line.Text, form) || strings.Contains(line.Text, password) || strings.Contains(line.Text, "diku_admin") {
					t.Errorf("%q tells the secret", line.Text)
				}
			}
		})
	}
}

func TestOtherTextIsKept(t *testing.T) {
	const message = "GET http://gateway:8081/items answered 404"
	if lines := logged(t, environment(), func(logger *logrus.Logger) { logger.Error(message) }); len(lines) != 1 || lines[0].Text != message {
		t.Errorf("told %+v, want %q", lines, message)
	}
}

// A secret must not be partly visible if a line is truncated in the middle of it.
func TestSecretsAreRedactedBeforeTruncation(t *testing.T) {
	for before := 990; before < 1030; before++ {
		lines := logged(t, environment(), func(logger *logrus.Logger) { logger.Error(strings.Repeat("x", before) + password) })
		if len(lines) != 1 || strings.Contains(lines[0].Text, "pa s") {
			t.Fatalf("%d signs before it: told %+v", before, lines)
		}
	}
}

// hiding is a later hook that changes the message, as k6's own does.
type hiding struct{}

func (hiding) Levels() []logrus.Level { return logrus.AllLevels }

func (hiding) Fire(entry *logrus.Entry) error {
	entry.Message = strings.ReplaceAll(entry.Message, "from-a-vault", "redacted")
	return nil
}

func TestK6SecretSourcesStayRedacted(t *testing.T) {
	lines := logged(t, nil, func(logger *logrus.Logger) {
		logger.AddHook(hiding{})
		logger.Error("the key is from-a-vault")
	})
	if len(lines) != 1 || lines[0].Text != "the key is redacted" {
		t.Errorf("told %+v", lines)
	}
}

func TestLastErrorIsKept(t *testing.T) {
	lines := logged(t, nil, func(logger *logrus.Logger) {
		logger.Error("first")
		logger.Error("cannot log in")
		for n := range 1000 {
			logger.Infof("iteration %d", n)
			logger.Debug("not for people")
		}
	})
	if len(lines) != payload.MaxLogLines || lines[0].Text != "cannot log in" || lines[len(lines)-1].Text != "iteration 999" {
		t.Errorf("told %+v", lines)
	}
}
