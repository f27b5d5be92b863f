// SPDX-License-Identifier: Apache-2.0

package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// Limits of the repeated log lines.
const (
	// MaxLogLines is the maximum number of lines.
	MaxLogLines = 20
	// MaxLogBytes is the maximum total size of their texts.
	MaxLogBytes = 4 << 10
	// maxLogText is the maximum size of one text.
	maxLogText = 1 << 10
)

// logMarker is the prefix of a repeated log line. JSON follows.
const logMarker = "perflab-log "

// LogLine is a log line that a load generator repeats when it ends, without the secrets of its
// environment, so that the line can be shared.
type LogLine struct {
	// Level is error, warning or info.
	Level string `json:"level"`
	// Text is one line.
	Text string `json:"text"`
}

// NewLogLine returns one line of a message, truncated if it is long.
func NewLogLine(level, message string) LogLine {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(message, "")), " ")
	return LogLine{Level: level, Text: cut(text, maxLogText, "")}
}

// IsError reports whether the level is error.
func (l LogLine) IsError() bool {
	return l.Level == "error" || l.Level == "fatal" || l.Level == "panic"
}

// Line returns the line with its line end.
func (l LogLine) Line() (string, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(l); err != nil {
		return "", fmt.Errorf("encoding a line of the log: %w", err)
	}
	return logMarker + text.String(), nil
}

// Bounded returns the last lines within MaxLogLines and MaxLogBytes. If none of them is an error,
// the last error before them replaces the first.
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

// ReadLog returns the repeated lines in a log. Other load generators repeat none.
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

// IsLog reports whether a line is a repeated log line.
func IsLog(line string) bool { return strings.Contains(line, logMarker) }
