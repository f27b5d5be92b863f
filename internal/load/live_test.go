// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/testing/yamlcmp"
	"perflab.dev/perflab/payload"
)

const runnerLog = `time="2026-03-01T12:00:00Z" level=warning msg="slow"
perflab-progress {"at":"2026-03-01T12:00:10Z","users":2,"requestsPerSecond":1,"requests":10,"errorPercent":0,"p95":{"Check-In":100}}
perflab-payload begin id=01234567 version=1 parts=1 bytes=1 sha256=00
2026-03-01T12:00:20Z perflab-progress {"at":"2026-03-01T12:00:20Z","users":4,"requestsPerSecond":12.34,"requests":300,"errorPercent":2,"p95":{"Check-In":412.34,"Check-Out":900.4}}
perflab-progress {"at":"2026-03-01T12:0
`

func reports(t *testing.T, logs ...string) []payload.Progress {
	t.Helper()
	var all []payload.Progress
	for _, log := range logs {
		report, found := payload.LastProgress(strings.NewReader(log))
		if !found {
			t.Fatalf("no report in %q", log)
		}
		all = append(all, report)
	}
	return all
}

func TestAddProgress(t *testing.T) {
	second := `perflab-progress {"at":"2026-03-01T12:00:21Z","users":3,"requestsPerSecond":100,"requests":100,"errorPercent":0,"p95":{"Check-In":380}}`
	yamlcmp.Equal(t, load.AddProgress(reports(t, runnerLog, second), at(30)), `
time: "2026-03-01T12:00:30Z"
users: 7
requestsPerSecond: "112"
errorPercent: "1.5"
p95: [{transaction: Check-In, milliseconds: "412"}, {transaction: Check-Out, milliseconds: "900"}]
`)
	yamlcmp.Equal(t, load.AddProgress(reports(t, `perflab-progress {"at":"2026-03-01T12:00:20Z","users":1,"requestsPerSecond":0.456,"requests":3,"errorPercent":0,"records":1200}`), at(30)), `
time: "2026-03-01T12:00:30Z"
users: 1
requestsPerSecond: "0.46"
errorPercent: "0"
records: 1200
`)
}

func TestLastWords(t *testing.T) {
	for name, test := range map[string]struct{ log, want string }{
		"nothing":  {"", ""},
		"an error": {runnerLog + `time="2026-03-01T12:00:30Z" level=error msg="cannot log in at http://gateway: POST answered 401 \"no\"" source=console` + "\nperflab-payload end id=01234567\n\n", `cannot log in at http://gateway: POST answered 401 "no"`},
		"a panic":  {"panic: runtime error\n", "panic: runtime error"},
		"one word": {"level=warning msg=late\n", "late"},
	} {
		if got := load.LastWords(strings.NewReader(test.log)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
