// SPDX-License-Identifier: Apache-2.0

package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"golang.org/x/term"
	"mvdan.cc/sh/v3/shell"
)

// pager shows output that is longer than the terminal. It starts once there is more
// than a screen; shorter output goes straight to the terminal, as does all output
// without a pager.
type pager struct {
	terminal *os.File
	// path and arguments of the program.
	path      string
	arguments []string
	// width and height of the terminal.
	width, height int
	// held is the output until there is more than a screen.
	held bytes.Buffer
	// process and its input, after the start.
	process *exec.Cmd
	in      io.WriteCloser
	// interrupts go to the pager while it runs: in less, Ctrl-C ends a search.
	interrupts chan os.Signal
}

// newPager returns the user's pager; nil: none.
func newPager(terminal *os.File) *pager {
	words := pagerWords()
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil
	}
	width, height, err := term.GetSize(int(terminal.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return nil
	}
	return &pager{terminal: terminal, path: path, arguments: words[1:], width: width, height: height}
}

// pagerWords are the words of the pager's command; none if it is empty or
// invalid.
func pagerWords() []string {
	command := "less"
	for _, variable := range []string{"PAGER", "PERFLAB_PAGER"} {
		if value, set := os.LookupEnv(variable); set {
			command = value
		}
	}
	words, err := shell.Fields(command, nil)
	if err != nil {
		return nil
	}
	return words
}

// Write holds a screen back, and then writes to the pager. A closed pager is no
// error.
func (p *pager) Write(text []byte) (int, error) {
	if p.in != nil {
		_, _ = p.in.Write(text)
		return len(text), nil
	}
	p.held.Write(text) // It never fails.
	if TerminalRows(p.held.String(), p.width) < p.height {
		return len(text), nil
	}
	return len(text), p.start()
}

// start starts the pager with the held output. As with git, less exits if
// everything fits on the screen, shows colors and leaves the text there, unless
// LESS is set.
func (p *pager) start() error {
	process := exec.Command(p.path, p.arguments...) //nolint:gosec // It is the reader's own program.
	process.Stdout, process.Stderr, process.Env = p.terminal, os.Stderr, os.Environ()
	if _, set := os.LookupEnv("LESS"); !set {
		process.Env = append(process.Env, "LESS=FRX")
	}
	in, err := process.StdinPipe()
	if err != nil {
		return fmt.Errorf("starting the pager: %w", err)
	}
	p.interrupts = make(chan os.Signal, 1)
	signal.Notify(p.interrupts, os.Interrupt)
	if err := process.Start(); err != nil {
		// The pager can't be run: use the terminal.
		signal.Stop(p.interrupts)
		p.in = terminalWriter{p.terminal}
	} else {
		p.process, p.in = process, in
	}
	_, _ = p.in.Write(p.held.Bytes()) // It may have been closed already.
	return nil
}

// terminalWriter writes to the terminal without closing it.
type terminalWriter struct{ io.Writer }

func (terminalWriter) Close() error { return nil }

// close writes less than a screen, or waits for the pager's end.
func (p *pager) close() error {
	if p.in == nil {
		_, err := p.terminal.Write(p.held.Bytes())
		return err
	}
	_ = p.in.Close() // It may have been closed already.
	if p.process == nil {
		return nil
	}
	defer signal.Stop(p.interrupts)
	if err := p.process.Wait(); err != nil && !p.process.ProcessState.Success() {
		return fmt.Errorf("the pager %s: %w: set another in PERFLAB_PAGER, or use --%s", p.path, err, noPagerFlag)
	}
	return nil
}
