// SPDX-License-Identifier: Apache-2.0

package main

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

// pager shows on a terminal what is longer than it, a screen at a time. It is started
// when there is more than a screen; what is shorter goes straight to the terminal, as
// all does where there is no pager.
type pager struct {
	terminal *os.File
	// path and arguments of the program.
	path      string
	arguments []string
	// width and height of the terminal.
	width, height int
	// held is what was written until there was more than a screen.
	held bytes.Buffer
	// process and its input, once it is started.
	process *exec.Cmd
	in      io.WriteCloser
	// interrupts are the pager's while it is on: to less, Ctrl-C ends a search.
	interrupts chan os.Signal
}

// newPager is the reader's pager; nil: there is none, or none is wanted.
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

// pagerWords are the command's; none where a variable is empty, or no command.
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

// Write holds a screen back, and then writes to the pager. Who has closed it wants no
// more: that is no error.
func (p *pager) Write(text []byte) (int, error) {
	if p.in != nil {
		_, _ = p.in.Write(text)
		return len(text), nil
	}
	p.held.Write(text) // It never fails.
	if terminalRows(p.held.String(), p.width) < p.height {
		return len(text), nil
	}
	return len(text), p.start()
}

// start the pager with what was held. As for git, less quits where all fits on the
// screen, shows colours and leaves the text there, unless the reader has set LESS.
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
		// It is there, and can't be run: the terminal will do.
		signal.Stop(p.interrupts)
		p.in = terminalWriter{p.terminal}
	} else {
		p.process, p.in = process, in
	}
	_, _ = p.in.Write(p.held.Bytes()) // It may have been closed already.
	return nil
}

// plainly writes to a terminal that is not ours to close.
type terminalWriter struct{ io.Writer }

func (terminalWriter) Close() error { return nil }

// close writes what is less than a screen, or waits until the reader has seen enough.
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
		return fmt.Errorf("the pager %s: %w: name another in PERFLAB_PAGER, or take --%s", p.path, err, noPagerFlag)
	}
	return nil
}
