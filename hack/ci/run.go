// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// workers is the number of parallel checks: most wait for API servers a third of the time.
const workers = 2

// longest is the time limit of a check: one that hangs must not hide the results of others. It
// allows for empty caches.
const longest = 45 * time.Minute

// result is the result of a check.
type result struct {
	decision
	took time.Duration
	log  string
	err  error
}

// unavailable is the exit code of a check that can't run here, because something external
// is unavailable.
const unavailable = 69

// outcome in a word.
func (r *result) outcome() string {
	failed := &exec.ExitError{}
	switch {
	case r.err == nil:
		return "passed"
	case errors.As(r.err, &failed) && failed.ExitCode() == unavailable:
		return "NOT CHECKED"
	default:
		return "FAILED"
	}
}

// runner runs checks, each with its own log, and prints the logs when the checks end.
type runner struct {
	ctx     context.Context
	out     io.Writer
	logs    string
	records *records
	started time.Time
	// limit of a check.
	limit time.Duration

	mutex   sync.Mutex
	results []result
	failed  bool
}

// run runs the decisions in order, two in parallel. A check that must run alone waits for
// those before it, and is skipped after a failure: it is slow, and the others show more
// about the failure.
func (r *runner) run(decisions []decision) {
	var running sync.WaitGroup
	places := make(chan struct{}, workers)
	for _, d := range decisions {
		if !d.run {
			continue
		}
		if d.check.Alone {
			running.Wait()
			r.one(d)
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			r.one(d)
		})
	}
	running.Wait()
}

func (r *runner) one(d decision) {
	if d.check.Alone && r.hasFailed() || r.ctx.Err() != nil {
		return
	}
	r.say("=== %s starts (%s)", d.check.Name, d.why)
	began := time.Now()
	ended := result{decision: d, log: filepath.Join(r.logs, d.check.Name+".log")}
	ended.err = r.command(d.check, ended.log)
	ended.took = time.Since(began)
	r.end(ended)
}

func (r *runner) command(c *check, log string) error {
	file, err := os.Create(log)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck //nolint:errcheck // The command has ended and its output is written.
	ctx, cancel := context.WithTimeout(r.ctx, r.limit)
	defer cancel()
	command := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", c.Run)
	// A signal to this program ends the check and its child processes.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = 30 * time.Second
	command.Env = append(os.Environ(), "CHECK="+c.Name)
	command.Stdout, command.Stderr = file, file
	err = command.Run()
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		_, _ = fmt.Fprintf(file, "ci: the check did not end within %s\n", r.limit)
	}
	return err
}

// end prints a check's log, and records its result.
func (r *runner) end(ended result) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.failed = r.failed || ended.outcome() == "FAILED"
	r.results = append(r.results, ended)
	if text, err := os.ReadFile(ended.log); err == nil {
		_, _ = r.out.Write(text)
	}
	_, _ = fmt.Fprintf(r.out, "=== %s: %s after %s (%s)\n", ended.check.Name, ended.outcome(), round(ended.took), r.clock())
	if ended.err != nil {
		return
	}
	if err := r.records.note(ended.check.Name, ended.took, time.Now()); err != nil {
		_, _ = fmt.Fprintln(r.out, "cannot record that it passed:", err)
	}
}

func (r *runner) hasFailed() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.failed
}

func (r *runner) say(format string, arguments ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	_, _ = fmt.Fprintf(r.out, format+" (%s)\n", append(arguments, r.clock())...)
}

func (r *runner) clock() string { return "at " + round(time.Since(r.started)).String() }

func round(d time.Duration) time.Duration { return d.Round(time.Second) }
