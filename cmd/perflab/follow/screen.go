// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"fmt"
	"io"
	"reflect"
	"time"

	"golang.org/x/term"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/internal/text/prose"
)

// screen shows the progress of an experiment: in place on a terminal,
// otherwise, as in a pipeline's log, a line for each change.
type screen struct {
	out io.Writer
	console.Style
	terminal bool
	lines    int
	// written are the lines of the log.
	written map[string]bool
	// output is the format for programs, with notes on another writer; nil:
	// text.
	output *console.Output
	notes  io.Writer
	// shownState is the last state written for programs.
	shownState ExperimentJSON
	// lastNote is the note since the last successful read.
	lastNote string
}

func newScreen(out io.Writer) *screen {
	_, isTerminal := console.TerminalFile(out)
	return &screen{out: out, Style: console.StyleOf(out), terminal: isTerminal && !console.IsDumb(), written: map[string]bool{}}
}

func (s *screen) show(seen snapshot, now time.Time) {
	s.lastNote = ""
	if s.output != nil {
		s.showState(seen.state(now))
		return
	}
	if !s.terminal {
		s.writeNews(seen.news())
		return
	}
	if s.lines > 0 {
		s.write(fmt.Sprintf("\x1b[%dA\x1b[J", s.lines))
	}
	lines := seen.lines(now)
	s.write(s.PaintStatus(lines))
	s.lines = console.TerminalRows(console.Style{}.PaintStatus(lines), s.columns())
}

// showState writes changes for programs, except those of the remaining time.
func (s *screen) showState(state ExperimentJSON) {
	without := state
	without.SecondsLeft = nil
	if reflect.DeepEqual(without, s.shownState) {
		return
	}
	s.shownState = without
	if s.output.Format == console.FormatYAML {
		s.write("---\n")
	}
	_ = s.output.Write(s.out, state) // As write.
}

// writeNews writes the lines that were not written before.
func (s *screen) writeNews(news []string) {
	for _, line := range news {
		line = prose.Printable(line)
		if !s.written[line] {
			s.written[line] = true
			s.write(line + "\n")
		}
	}
}

// columns is the width of the terminal, or the usual one.
func (s *screen) columns() int {
	const usual = 80
	if file, isTerminal := console.TerminalFile(s.out); isTerminal {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return usual
}

// note writes a sentence about the experiment, without repetitions.
func (s *screen) note(sentence string) {
	if sentence == s.lastNote {
		return
	}
	s.lastNote = sentence
	if s.notes != nil {
		_, _ = fmt.Fprintln(s.notes, sentence) // As write.
		return
	}
	s.write(sentence + "\n")
	s.lines = 0
}

// write ignores errors, because there is no other place to report them.
func (s *screen) write(text string) { _, _ = io.WriteString(s.out, text) }
