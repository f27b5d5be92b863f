// SPDX-License-Identifier: Apache-2.0

package payload_test

import (
	"strings"
	"testing"

	"perflab.dev/perflab/payload"
)

const runnerLog = `time="2026-03-01T12:00:00Z" level=warning msg="slow"
perflab-progress {"at":"2026-03-01T12:00:10Z","users":2,"requestsPerSecond":1,"requests":10,"errorPercent":0,"p95":{"Check-In":100}}
perflab-payload begin id=01234567 version=1 parts=1 bytes=1 sha256=00
2026-03-01T12:00:20Z perflab-progress {"at":"2026-03-01T12:00:20Z","users":4,"requestsPerSecond":12.34,"requests":300,"errorPercent":2,"p95":{"Check-In":412.34,"Check-Out":900.4}}
perflab-progress {"at":"2026-03-01T12:0
`

func TestLastProgress(t *testing.T) {
	told, found := payload.LastProgress(strings.NewReader(runnerLog))
	if !found || told.Users != 4 || told.Requests != 300 {
		t.Errorf("progress %+v, found %t, want the second", told, found)
	}
	if _, found := payload.LastProgress(strings.NewReader("nothing yet\n")); found {
		t.Error("progress was found where there is none")
	}
}

// LastProgress reads what Line writes.
func TestProgressLine(t *testing.T) {
	records := 1200.0
	line, err := payload.Progress{Users: 3, Requests: 7, Records: &records}.Line()
	noError(t, err)
	told, found := payload.LastProgress(strings.NewReader(line))
	if !found || told.Users != 3 || told.Requests != 7 || *told.Records != records {
		t.Errorf("progress %+v of %q, found %t", told, line, found)
	}
	if payload.IsResults(line) {
		t.Errorf("%q is told to be results", line)
	}
}
