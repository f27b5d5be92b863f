// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// workers is how many checks run at once: most wait for API servers a third of the time.
const workers = 2

// result is how a check ended.
type result struct {
	decision
	took time.Duration
	log  string
	err  error
}

// runner runs checks, each with a log of its own, and prints the logs as checks end.
type runner struct {
	out     io.Writer
	logs    string
	records *records
	started time.Time

	mutex   sync.Mutex
	results []result
	failed  bool
}

// run runs the decisions in their order, those that are to be alone after the others.
// After a failure nothing more begins.
func (r *runner) run(decisions []decision) {
	var beside, alone []decision
	for _, d := range decisions {
		switch {
		case !d.run:
		case d.check.Alone:
			alone = append(alone, d)
		default:
			beside = append(beside, d)
		}
	}
	queue := make(chan decision)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for d := range queue {
				r.one(d)
			}
		})
	}
	for _, d := range beside {
		queue <- d
	}
	close(queue)
	group.Wait()
	for _, d := range alone {
		r.one(d)
	}
}

func (r *runner) one(d decision) {
	if r.hasFailed() {
		return
	}
	r.say("=== %s begins (%s)", d.check.Name, d.why)
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
	defer file.Close() //nolint:errcheck // What the command printed is written by then.
	command := exec.Command("bash", "-euo", "pipefail", "-c", c.Run)
	command.Env = append(os.Environ(), "CHECK="+c.Name)
	command.Stdout, command.Stderr = file, file
	return command.Run()
}

// end prints what a check printed, and notes how it ended.
func (r *runner) end(ended result) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.failed = r.failed || ended.err != nil
	r.results = append(r.results, ended)
	outcome := "passed"
	if ended.err != nil {
		outcome = "FAILED: " + ended.err.Error()
	} else if err := r.records.note(ended.check.Name, ended.took, time.Now()); err != nil {
		outcome += ", which could not be recorded: " + err.Error()
	}
	if text, err := os.ReadFile(ended.log); err == nil {
		_, _ = r.out.Write(text)
	}
	_, _ = fmt.Fprintf(r.out, "=== %s %s after %s (%s)\n", ended.check.Name, outcome, round(ended.took), r.clock())
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
