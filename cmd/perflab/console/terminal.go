// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"perflab.dev/perflab/cmd/perflab/exit"
)

// Terminal flags of all commands.
const (
	ColorFlag   = "color"
	noPagerFlag = "no-pager"
)

// Values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// AddTerminalFlags adds --color and --no-pager.
func AddTerminalFlags(flags *pflag.FlagSet) {
	flags.String(ColorFlag, colorAuto, "when to color verdicts and warnings: auto (on a terminal, unless NO_COLOR is set), always or never")
	flags.Bool(noPagerFlag, false, "do not pipe long output through PERFLAB_PAGER, PAGER or less")
}

// Style is the style of an output. The zero value is plain, for pipes and files.
type Style struct {
	// width of tables; 0: any.
	width int
	// Colors are enabled.
	Colors bool
}

// Outlet is standard output. On a terminal, it adds colors, fits the width and
// uses a pager. These are known once flags are parsed.
type Outlet struct {
	Out io.Writer
	Style
	// pager, if any.
	pager *pager
}

// Write writes to the pager, or straight out.
func (o *Outlet) Write(text []byte) (int, error) {
	if o.pager != nil {
		return o.pager.Write(text)
	}
	return o.Out.Write(text)
}

// Close waits until the user closes the pager.
func (o *Outlet) Close() error {
	if o.pager == nil {
		return nil
	}
	return o.pager.close()
}

// Prepare sets up the output for a command with parsed flags.
func (o *Outlet) Prepare(command *cobra.Command) error {
	color := command.Flag(ColorFlag).Value.String()
	if !slices.Contains([]string{colorAuto, colorAlways, colorNever}, color) {
		return fmt.Errorf("%w: --%s %q must be %s, %s or %s", exit.ErrOption, ColorFlag, color, colorAuto, colorAlways, colorNever)
	}
	o.Style = StyleAt(o.Out, color)
	screen, isTerminal := TerminalFile(o.Out)
	if isTerminal && !IsDumb() && isPaged(command) {
		o.pager = newPager(screen)
	}
	return nil
}

// StyleAt is the style that a writer supports.
func StyleAt(out io.Writer, color string) Style {
	screen, isTerminal := TerminalFile(out)
	if !isTerminal {
		return Style{Colors: color == colorAlways}
	}
	seen := Style{Colors: color == colorAlways || color != colorNever && os.Getenv("NO_COLOR") == "" && !IsDumb()}
	if width, _, err := term.GetSize(int(screen.Fd())); err == nil {
		seen.width = width
	}
	return seen
}

// TerminalFile returns the terminal behind a writer.
func TerminalFile(out io.Writer) (*os.File, bool) {
	if through, is := out.(*Outlet); is {
		out = through.Out
	}
	file, isFile := out.(*os.File)
	return file, isFile && term.IsTerminal(int(file.Fd()))
}

// IsDumb reports whether the terminal supports only lines.
func IsDumb() bool { return os.Getenv("TERM") == "dumb" }

// pagedCommands are commands whose output is a text, not a stream of news.
var pagedCommands = []string{"analyze", "audit", "compare", "doctor", "export", "logs", "plan", "queue", "report", "status", "verify"}

func isPaged(command *cobra.Command) bool {
	set := func(flag string) bool {
		value, err := command.Flags().GetBool(flag)
		return err == nil && value
	}
	return slices.Contains(pagedCommands, command.Name()) && !set(noPagerFlag) && !set("watch")
}

// StyleOf is the style of a command's output.
func StyleOf(out io.Writer) Style {
	switch to := out.(type) {
	case *Outlet:
		return to.Style
	case *Sink:
		return to.Style
	}
	return Style{}
}

// Sink buffers the output of a command.
type Sink struct {
	*bufio.Writer
	Style
}

// NewSink returns a buffer for the output of a command, in its style.
func NewSink(command *cobra.Command) *Sink {
	out := command.OutOrStdout()
	return &Sink{bufio.NewWriter(out), StyleOf(out)}
}

// Finish flushes the rest, unless an earlier write failed, and names the output in its
// error.
func (s *Sink) Finish(what string, failed error) error {
	if failed == nil {
		failed = s.Flush()
	}
	if failed != nil {
		return fmt.Errorf("writing %s: %w", what, failed)
	}
	return nil
}

// TerminalRows is the number of rows that a text occupies on a terminal, which
// wraps long lines.
func TerminalRows(text string, width int) int {
	count := 0
	for line := range strings.Lines(text) {
		count += max(1, (utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))+width-1)/width)
	}
	return count
}
