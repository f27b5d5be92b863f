// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"perflab.dev/perflab/internal/testing/ports"
)

const (
	// home is the operator's own namespace.
	home = "perflab-system"
	// look is the interval between two readings of a process.
	look = 200 * time.Millisecond
	// calm is how long a started operator must use almost no CPU to be idle. calmAfter is the
	// same after a single event. busy is the share of a CPU that counts as work.
	calm      = 2 * time.Second
	calmAfter = 600 * time.Millisecond
	busy      = 0.03
	// reported is longer than the operator's rate limit for progress messages.
	reported = 6 * time.Second
	// restless is the time limit for an operator that does not become idle.
	restless = 15 * time.Second
)

// errBusy means that the operator is still working.
var errBusy = errors.New("the operator does not become idle")

// workersStarted is the message that each of the three controllers logs when its caches are
// filled.
const (
	workersStarted = "Starting workers"
	controllers    = 3
)

// operator is a running cmd/manager.
type operator struct {
	command *exec.Cmd
	log     string
	metrics string
	cluster *cluster
	// auditOffset is the offset in the audit log at which the operator's next requests start.
	auditOffset int64
	ended       chan struct{}
}

// buildOperator builds the program as in a release.
func buildOperator(ctx context.Context, root, dir string) (string, error) {
	build := exec.CommandContext(ctx, "make", "build-operator", "BIN="+dir)
	build.Dir = root
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the operator: %w\n%s", err, output)
	}
	return filepath.Join(dir, "manager"), nil
}

// startOperator starts the operator as a process, with the user whose requests are counted.
func (b *bench) startOperator(ctx context.Context, c *cluster) (*operator, error) {
	port, err := ports.Free()
	if err != nil {
		return nil, err
	}
	_, offset, err := c.countRequests(0)
	if err != nil {
		return nil, err
	}
	b.starts++
	o := &operator{
		log: filepath.Join(b.dir, fmt.Sprintf("operator-%d.log", b.starts)), metrics: fmt.Sprintf("http://127.0.0.1:%d/metrics", port),
		cluster: c, auditOffset: offset, ended: make(chan struct{}),
	}
	log, err := os.Create(o.log)
	if err != nil {
		return nil, err
	}
	flags := append([]string{
		"--webhook=false", "--metrics-secure=false", "--zap-devel=false",
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", port), "--health-probe-bind-address=0", "--own-namespace=" + home,
		// All namespaces run at the same time, which is part of the measurement.
		"--lanes=namespace",
		// Targets are simulated on loopback.
		"--allow-targets=127.0.0.1",
		"--k6-image=example.org/k6:1", "--collector-image=example.org/collector:1",
	}, b.flags...)
	o.command = exec.CommandContext(ctx, b.operator, flags...)
	o.command.Stdout, o.command.Stderr = log, log
	o.command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	if b.memory != "" {
		o.command.Env = append(o.command.Env, "GOMEMLIMIT="+b.memory)
	}
	if err := errors.Join(o.command.Start(), log.Close()); err != nil {
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	go func() {
		_ = o.command.Wait()
		close(o.ended)
	}()
	return o, nil
}

// stop terminates the operator as Kubernetes does, and then kills it.
func (o *operator) stop() {
	_ = o.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-o.ended:
	case <-time.After(15 * time.Second):
		_ = o.command.Process.Kill()
		<-o.ended
	}
}

// idle waits until the operator has started and has no more work: its caches are filled, it has
// used almost no CPU for a while, and its queues are empty. It fails with errBusy if that takes
// longer than patience.
func (o *operator) idle(ctx context.Context, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for !o.working() {
		if err := o.wait(ctx, deadline); err != nil {
			return err
		}
	}
	for {
		if err := o.rest(ctx, calm, deadline); err != nil {
			return err
		}
		if empty, err := o.empty(ctx); err != nil || empty {
			return err
		}
	}
}

// rest waits until the operator has used almost no CPU for a while. It does not query the
// operator, because that would cost more than the measured event.
func (o *operator) rest(ctx context.Context, calm time.Duration, deadline time.Time) error {
	var used []float64
	for {
		now, err := readUsage(o.command.Process.Pid)
		if err != nil {
			return o.gone(err)
		}
		used = append(used, now.cpu)
		if isCalm(used, calm) {
			return nil
		}
		if err := o.wait(ctx, deadline); err != nil {
			return err
		}
	}
}

// pause waits until the operator has handled a single event. If the operator is never idle, the
// wait is limited, because its other work is subtracted.
func (o *operator) pause(ctx context.Context) error {
	if err := o.rest(ctx, calmAfter, time.Now().Add(restless)); !errors.Is(err, errBusy) {
		return err
	}
	return nil
}

// isCalm reports whether the last of these readings, in CPU seconds, show that the operator is
// idle for this long. The kernel counts in hundredths of a second, so a difference of one is
// ignored.
func isCalm(used []float64, calm time.Duration) bool {
	steps := int(calm / look)
	if len(used) <= steps {
		return false
	}
	last := used[len(used)-1-steps:]
	return last[steps]-last[0] <= max(busy*calm.Seconds(), 1.5/ticks)
}

// working reports whether all controllers have started.
func (o *operator) working() bool {
	text, err := os.ReadFile(o.log)
	return err == nil && bytes.Count(text, []byte(workersStarted)) >= controllers
}

// empty reports whether no worker is active and the queues are empty.
func (o *operator) empty(ctx context.Context) (bool, error) {
	found, err := scrape(ctx, o.metrics)
	if err != nil {
		return false, o.gone(err)
	}
	return found.sum("workqueue_depth", nil)+found.sum("controller_runtime_active_workers", nil) == 0, nil
}

func (o *operator) wait(ctx context.Context, deadline time.Time) error {
	if time.Now().After(deadline) {
		return errBusy
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-o.ended:
		return o.gone(nil)
	case <-time.After(look):
		return nil
	}
}

// gone explains why the operator's data can't be read.
func (o *operator) gone(err error) error {
	select {
	case <-o.ended:
		text, _ := os.ReadFile(o.log)
		return fmt.Errorf("the operator has ended (%v): %s", o.command.ProcessState, bytes.TrimSpace(text[max(0, len(text)-2000):]))
	default:
		return err
	}
}
