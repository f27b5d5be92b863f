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

// Terminal flags of all commands.
const (
	colorFlag   = "color"
	noPagerFlag = "no-pager"
)

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

func addTerminalFlags(flags *pflag.FlagSet) {
	flags.String(colorFlag, colorAuto, "when to color verdicts and warnings: auto (on a terminal, unless NO_COLOR is set), always or never")
	flags.Bool(noPagerFlag, false, "do not pipe long output through PERFLAB_PAGER, PAGER or less")
}

// style is the style of an output. The zero value is plain, for pipes and files.
type style struct {
	// width of tables; 0: any.
	width int
	// colors are enabled.
	colors bool
}

// outlet is standard output. On a terminal, it adds colors, fits the width and
// uses a pager. These are known once flags are parsed.
type outlet struct {
	out io.Writer
	style
	// pager, if any.
	pager *pager
}

// Write writes to the pager, or straight out.
func (o *outlet) Write(text []byte) (int, error) {
	if o.pager != nil {
		return o.pager.Write(text)
	}
	return o.out.Write(text)
}

// close waits until the user closes the pager.
func (o *outlet) close() error {
	if o.pager == nil {
		return nil
	}
	return o.pager.close()
}

// prepare sets up the output for a command with parsed flags.
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

// styleAt is the style that a writer supports.
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

// terminalFile returns the terminal behind a writer.
func terminalFile(out io.Writer) (*os.File, bool) {
	if through, is := out.(*outlet); is {
		out = through.out
	}
	file, isFile := out.(*os.File)
	return file, isFile && term.IsTerminal(int(file.Fd()))
}

// isDumb reports whether the terminal supports only lines.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// pagedCommands are commands whose output is a text, not a stream of news.
var pagedCommands = []string{"analyze", "audit", "compare", "doctor", "export", "logs", "plan", "queue", "report", "status", "verify"}

func isPaged(command *cobra.Command) bool {
	set := func(flag string) bool {
		value, err := command.Flags().GetBool(flag)
		return err == nil && value
	}
	return slices.Contains(pagedCommands, command.Name()) && !set(noPagerFlag) && !set("watch")
}

// styleOf is the style of a command's output.
func styleOf(out io.Writer) style {
	switch to := out.(type) {
	case *outlet:
		return to.style
	case *sink:
		return to.style
	}
	return style{}
}

// sink buffers the output of a command.
type sink struct {
	*bufio.Writer
	style
}

func newSink(command *cobra.Command) *sink {
	out := command.OutOrStdout()
	return &sink{bufio.NewWriter(out), styleOf(out)}
}

// finish flushes the rest, unless an earlier write failed, and names the output in its
// error.
func (s *sink) finish(what string, failed error) error {
	if failed == nil {
		failed = s.Flush()
	}
	if failed != nil {
		return fmt.Errorf("writing %s: %w", what, failed)
	}
	return nil
}
