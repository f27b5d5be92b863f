// SPDX-License-Identifier: Apache-2.0

package load_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/testing/expect"
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
	// Numbers in a log may exceed every counter.
	yamlcmp.Equal(t, load.AddProgress(reports(t, `perflab-progress {"at":"2026-03-01T12:00:20Z","users":1e300,"requestsPerSecond":0,"requests":3,"errorPercent":0,"records":-1e300}`), at(30)), `
time: "2026-03-01T12:00:30Z"
users: 2147483647
requestsPerSecond: "0"
errorPercent: "0"
records: 0
`)
}

func TestLastLogLine(t *testing.T) {
	line := func(level, text string) payload.LogLine { return payload.LogLine{Level: level, Text: text} }
	for name, test := range map[string]struct {
		told []payload.LogLine
		want string
	}{
		"nothing":                       {nil, ""},
		"an error":                      {[]payload.LogLine{line("error", "first"), line("error", "cannot log in")}, "cannot log in"},
		"an error with more behind it":  {[]payload.LogLine{line("error", "cannot log in"), line("info", "bye")}, "cannot log in"},
		"no error, so what was last":    {[]payload.LogLine{line("info", "hello"), line("warning", "late")}, "late"},
		"a word too long for a message": {[]payload.LogLine{line("error", strings.Repeat("é", 300))}, strings.Repeat("é", 200)},
	} {
		expect.Equal(t, test.want, load.LastLogLine(test.told), "%s", name)
	}
}
