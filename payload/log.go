// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// What is told of a log at its end.
const (
	// MaxLogLines are the lines.
	MaxLogLines = 20
	// MaxLogBytes are the bytes of all of them together.
	MaxLogBytes = 4 << 10
	// maxLogText are the bytes of one.
	maxLogText = 1 << 10
)

// logMarker begins a line that was logged; JSON follows.
const logMarker = "perflab-log "

// LogLine is something a load generator logged, told once more at its end with
// the secrets of its environment taken out, so that it may be passed on.
type LogLine struct {
	// Level is error, warning or info.
	Level string `json:"level"`
	// Text is one line.
	Text string `json:"text"`
}

// NewLogLine makes one line of a message, cut where it is long.
func NewLogLine(level, message string) LogLine {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(message, "")), " ")
	return LogLine{Level: level, Text: cut(text, maxLogText, "")}
}

// IsError says that something went wrong for good.
func (l LogLine) IsError() bool {
	return l.Level == "error" || l.Level == "fatal" || l.Level == "panic"
}

// Line is the line of the log, with its end.
func (l LogLine) Line() (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(l); err != nil {
		return "", fmt.Errorf("encoding a line of the log: %w", err)
	}
	return logMarker + text.String(), nil
}

// Bounded are the last lines within MaxLogLines and MaxLogBytes. Of what is too
// much, the last error stays, before all others.
func Bounded(lines []LogLine) []LogLine {
	from, left := len(lines), MaxLogBytes
	for from > 0 && len(lines)-from < MaxLogLines && len(lines[from-1].Text) <= left {
		from--
		left -= len(lines[from].Text)
	}
	kept := lines[from:]
	if containsError(kept) {
		return kept
	}
	for i := from - 1; i >= 0; i-- {
		if lines[i].IsError() {
			return Bounded(append([]LogLine{lines[i]}, kept[min(1, len(kept)):]...))
		}
	}
	return kept
}

func containsError(lines []LogLine) bool {
	for _, line := range lines {
		if line.IsError() {
			return true
		}
	}
	return false
}

// ReadLog finds the last lines in a log; none in that of another load generator.
func ReadLog(log io.Reader) []LogLine {
	var found []LogLine
	eachMarked(log, logMarker, func(text []byte) {
		var line LogLine
		if json.Unmarshal(text, &line) == nil {
			found = Bounded(append(found, NewLogLine(line.Level, line.Text)))
		}
	})
	return found
}

// IsLog says whether a line of a log repeats another.
func IsLog(line string) bool { return strings.Contains(line, logMarker) }
