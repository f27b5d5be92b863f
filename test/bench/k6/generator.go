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
	"syscall"
	"time"
)

//go:embed script.js
var script []byte

// requestsPerIteration is the number of requests of an iteration of the script.
const requestsPerIteration = 63

// turn is the cost of one k6 process.
type turn struct {
	used                     // over the measured iterations
	iterations float64       // number of the measured iterations
	end        time.Duration // CPU time from the last request to the end of the process
	peak       float64       // maximum memory of the process, in bytes
}

// take runs one k6 process with its iterations.
func (b bench) take(ctx context.Context, dir string, c candidate, t *target) (turn, error) {
	command, stderr, err := b.command(ctx, dir, c, t.url)
	if err != nil {
		return turn{}, err
	}
	if err := b.cpus.start(command); err != nil {
		return turn{}, fmt.Errorf("starting k6: %w", err)
	}
	w := window{pid: command.Process.Pid}
	last := (b.warmUp + b.iterations) * requestsPerIteration
	t.expect(map[int]func(){b.warmUp * requestsPerIteration: w.open, last: w.close})
	err = command.Wait()
	if seen := t.seen(); err == nil && seen != last {
		err = fmt.Errorf("%d requests, want %d", seen, last)
	}
	if err := errors.Join(err, w.err); err != nil {
		return turn{}, fmt.Errorf("k6 with output %q: %w\n%s", c.name, err, stderr)
	}
	usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return turn{}, errors.New("this system does not report a process's usage")
	}
	return turn{
		used: w.used, iterations: float64(b.iterations),
		end:  time.Duration(usage.Utime.Nano()+usage.Stime.Nano()) - w.meter.cpu - w.used.cpu,
		peak: float64(usage.Maxrss) * 1024,
	}, nil
}

// window is the period in which a process is measured.
type window struct {
	pid   int
	meter *meter
	used  used
	err   error
}

func (w *window) open() { w.meter, w.err = newMeter(w.pid) }

func (w *window) close() {
	if w.err == nil {
		w.used, w.err = w.meter.read()
	}
}

func (b bench) command(ctx context.Context, dir string, c candidate, url string) (command *exec.Cmd, stderr *bytes.Buffer, err error) {
	path := filepath.Join(dir, "script.js")
	if err := os.WriteFile(path, script, 0o600); err != nil {
		return nil, nil, err
	}
	args := []string{"run", "--quiet", "--no-color", "--address=", "--summary-mode=disabled", "--no-thresholds", "--log-output=stderr"}
	if c.out != "" {
		args = append(args, "--out="+c.out)
	}
	command = exec.CommandContext(ctx, b.k6, append(args, path)...)
	command.Env = append(os.Environ(), "K6_NO_USAGE_REPORT=true", "K6_AUTO_EXTENSION_RESOLUTION=false",
		"URL="+url, "USERS="+strconv.Itoa(b.users), "ITERATIONS="+strconv.Itoa(b.warmUp+b.iterations))
	command.Env = append(command.Env, c.env...)
	stderr = &bytes.Buffer{}
	command.Stderr = stderr
	return command, stderr, nil
}
