// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
)

// ProgressEvery is the time between two lines of progress.
const ProgressEvery = 10 * time.Second

// progressMarker begins a line of progress; JSON follows.
const progressMarker = "perflab-progress "

// Progress is what a load generator tells of itself, as one line of its log,
// while its test runs. Nothing rests on it: results are in the payload.
type Progress struct {
	At    time.Time `json:"at"`
	Users float64   `json:"users"`
	// RequestsPerSecond since the line before, Requests since the start.
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	Requests          int64   `json:"requests"`
	// ErrorPercent of the transactions so far.
	ErrorPercent float64 `json:"errorPercent"`
	// P95 of each transaction that worked so far, in ms.
	P95 map[string]float64 `json:"p95"`
	// Records imported so far; nil for other loads.
	Records *float64 `json:"records,omitempty"`
}

// Line returns the line of the log, with its end.
func (p Progress) Line() (string, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encoding progress: %w", err)
	}
	return progressMarker + string(text) + "\n", nil
}

// LastProgress finds the newest line of progress in a log. It says false if
// there is none; what can't be read is passed over, the next line is not far.
func LastProgress(log io.Reader) (Progress, bool) {
	var last Progress
	found := false
	eachMarked(log, progressMarker, func(text []byte) {
		var progress Progress
		if json.Unmarshal(text, &progress) == nil {
			last, found = progress, true
		}
	})
	return last, found
}

// IsResults reports whether a line of a log is part of a payload.
func IsResults(line string) bool { return strings.Contains(line, payloads.marker) }
