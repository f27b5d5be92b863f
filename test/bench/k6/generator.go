// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed script.js
var script []byte

const (
	// stopped is k6's exit code after SIGTERM.
	stopped = 105
	// endTimeout is the time an output has for what it does at the end.
	endTimeout = time.Minute
	// ticks is the number of the kernel's clock ticks per second, as /proc counts.
	ticks = 100
)

// generator is a k6 that runs or is held.
type generator struct {
	candidate
	command *exec.Cmd
	stderr  bytes.Buffer
	ended   chan error
}

// start starts a k6 whose test lasts until it is told to end.
func (b bench) start(ctx context.Context, dir string, c candidate, url string) (*generator, error) {
	path := filepath.Join(dir, "script.js")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		return nil, err
	}
	args := []string{"run", "--quiet", "--no-color", "--address=", "--summary-mode=disabled", "--no-thresholds", "--log-output=stderr"}
	if c.out != "" {
		args = append(args, "--out="+c.out)
	}
	g := &generator{candidate: c, command: exec.CommandContext(ctx, b.k6, append(args, path)...), ended: make(chan error, 1)}
	g.command.Env = append(os.Environ(), "K6_NO_USAGE_REPORT=true", "K6_AUTO_EXTENSION_RESOLUTION=false",
		"URL="+url, "USERS="+strconv.Itoa(b.users))
	g.command.Env = append(g.command.Env, c.env...)
	g.command.Stderr = &g.stderr
	if err := g.command.Start(); err != nil {
		return nil, fmt.Errorf("starting k6: %w", err)
	}
	go func() { g.ended <- g.command.Wait() }()
	return g, nil
}

// hold keeps k6 from running, resume lets it run again.
func (g *generator) hold() error   { return g.signal(syscall.SIGSTOP) }
func (g *generator) resume() error { return g.signal(syscall.SIGCONT) }

func (g *generator) signal(s syscall.Signal) error {
	if err := g.command.Process.Signal(s); err != nil {
		return fmt.Errorf("k6 with output %q: %w\n%s", g.name, err, &g.stderr)
	}
	return nil
}

// end lets k6 end its test, and gives the most memory it ever had, in bytes.
func (g *generator) end() (peak float64, err error) {
	if err := errors.Join(g.signal(syscall.SIGTERM), g.resume()); err != nil {
		return 0, err
	}
	select {
	case err = <-g.ended:
	case <-time.After(endTimeout):
		return 0, fmt.Errorf("k6 with output %q did not end in %v", g.name, endTimeout)
	}
	if code := g.command.ProcessState.ExitCode(); code != stopped {
		return 0, fmt.Errorf("k6 with output %q: %w\n%s", g.name, err, &g.stderr)
	}
	usage, ok := g.command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, errors.New("this system does not tell what a process used")
	}
	return float64(usage.Maxrss) * 1024, nil
}

// kill ends k6 at once, in whatever state it is.
func (g *generator) kill() {
	// It may have ended by itself.
	_ = g.command.Process.Kill()
}

// cpu is the CPU time that k6 used so far, in seconds.
func (g *generator) cpu() (float64, error) {
	// The second field, the program's name, may have spaces; it ends with ")".
	fields, err := g.proc("stat", ")")
	if err != nil {
		return 0, err
	}
	user, errUser := strconv.ParseFloat(fields[11], 64)
	system, errSystem := strconv.ParseFloat(fields[12], 64)
	return (user + system) / ticks, errors.Join(errUser, errSystem)
}

// resident is k6's memory in bytes.
func (g *generator) resident() (float64, error) {
	fields, err := g.proc("statm", "")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return pages * float64(os.Getpagesize()), err
}

// proc reads the fields after a mark in one of the kernel's files on k6.
func (g *generator) proc(file, after string) ([]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", g.command.Process.Pid, file))
	if err != nil {
		return nil, fmt.Errorf("looking at k6 with output %q: %w\n%s", g.name, err, &g.stderr)
	}
	rest := string(text)
	if after != "" {
		rest = rest[strings.LastIndex(rest, after)+len(after):]
	}
	return strings.Fields(rest), nil
}
