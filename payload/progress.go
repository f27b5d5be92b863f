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

// progressMarker is the prefix of a progress line. JSON follows.
const progressMarker = "perflab-progress "

// Progress is the progress that a load generator reports as one line of its log while its test
// runs. No result depends on it: results are in the payload.
type Progress struct {
	At    time.Time `json:"at"`
	Users float64   `json:"users"`
	// RequestsPerSecond is the rate since the previous line, Requests the number since the start.
	RequestsPerSecond float64 `json:"requestsPerSecond"`
	Requests          int64   `json:"requests"`
	// ErrorPercent is the share of failed transactions so far.
	ErrorPercent float64 `json:"errorPercent"`
	// P95 is the 95th percentile of each transaction that succeeded so far, in ms.
	P95 map[string]float64 `json:"p95"`
	// Records is the number of records imported so far, or nil for other loads.
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

// LastProgress returns the newest progress line in a log, and false if there is none. It skips
// lines that cannot be decoded, because the next line follows soon.
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
