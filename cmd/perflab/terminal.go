// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// Flags of all commands about what a terminal shows.
const (
	colorFlag   = "color"
	noPagerFlag = "no-pager"
)

// When to colour.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

func addTerminalFlags(flags *pflag.FlagSet) {
	flags.String(colorFlag, colorAuto, "when to color verdicts and warnings: auto (on a terminal, unless NO_COLOR is set), always or never")
	flags.Bool(noPagerFlag, false, "write what is longer than the terminal straight to it, not through PERFLAB_PAGER, PAGER or less")
}

// look is how a text may look where it goes. The zero value is that of a pipe or a
// file: as it is.
type style struct {
	// width that tables are to fit; 0: any.
	width int
	// colours may be used.
	colors bool
}

// outlet is standard output: as it is or, on a terminal, in colours, fitted to its
// width and through a pager. Which of these, is known when flags are read.
type outlet struct {
	out io.Writer
	style
	// through is the pager, if any.
	pager *pager
}

// Write writes to the pager, or straight out.
func (o *outlet) Write(text []byte) (int, error) {
	if o.pager != nil {
		return o.pager.Write(text)
	}
	return o.out.Write(text)
}

// close waits until the reader has closed the pager.
func (o *outlet) close() error {
	if o.pager == nil {
		return nil
	}
	return o.pager.close()
}

// prepare the outlet for a command whose flags are read.
func (o *outlet) prepare(command *cobra.Command) error {
	color := command.Flag(colorFlag).Value.String()
	if !slices.Contains([]string{colorAuto, colorAlways, colorNever}, color) {
		return fmt.Errorf("%w: --%s %q must be %s, %s or %s", errOption, colorFlag, color, colorAuto, colorAlways, colorNever)
	}
	o.style = styleAt(o.out, color)
	screen, isTerminal := terminalFile(o.out)
	if isTerminal && !isDumb() && isPaged(command) {
		o.pager = newPager(screen)
	}
	return nil
}

// lookAt is what a writer can show.
func styleAt(out io.Writer, color string) style {
	screen, isTerminal := terminalFile(out)
	if !isTerminal {
		return style{colors: color == colorAlways}
	}
	seen := style{colors: color == colorAlways || color != colorNever && os.Getenv("NO_COLOR") == "" && !isDumb()}
	if width, _, err := term.GetSize(int(screen.Fd())); err == nil {
		seen.width = width
	}
	return seen
}

// terminalOf is the terminal that a writer is, or writes to.
func terminalFile(out io.Writer) (*os.File, bool) {
	if through, is := out.(*outlet); is {
		out = through.out
	}
	file, isFile := out.(*os.File)
	return file, isFile && term.IsTerminal(int(file.Fd()))
}

// isDumb: the terminal knows nothing but lines.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// paged are the commands whose output is a text to read, and not news as they come.
var pagedCommands = []string{"analyze", "audit", "compare", "doctor", "export", "logs", "plan", "queue", "report", "status", "verify"}

func isPaged(command *cobra.Command) bool {
	set := func(flag string) bool {
		value, err := command.Flags().GetBool(flag)
		return err == nil && value
	}
	return slices.Contains(pagedCommands, command.Name()) && !set(noPagerFlag) && !set("watch")
}

// lookOf is that of what a command writes to.
func styleOf(out io.Writer) style {
	switch to := out.(type) {
	case *outlet:
		return to.style
	case *sink:
		return to.style
	}
	return style{}
}

// sink writes in large pieces what a command has computed.
type sink struct {
	*bufio.Writer
	style
}

func newSink(command *cobra.Command) *sink {
	out := command.OutOrStdout()
	return &sink{bufio.NewWriter(out), styleOf(out)}
}

// end writes the rest, unless an earlier write failed, and names what is written in its error.
func (s *sink) finish(what string, failed error) error {
	if failed == nil {
		failed = s.Flush()
	}
	if failed != nil {
		return fmt.Errorf("writing %s: %w", what, failed)
	}
	return nil
}
