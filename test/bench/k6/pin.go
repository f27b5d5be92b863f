// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// cpus are two CPUs that this process may use: one for the benchmark with the server and
// Prometheus, the other only for k6.
type cpus struct{ server, generator int }

// chosen is the environment variable in which a process that pinned itself passes both CPUs to
// the process that replaces it.
const chosen = "BENCH_K6_CPUS"

// pin restricts this process to the first allowed CPU, and reserves the second for k6. It
// replaces the process, and pin returns the CPUs in the new one, because Go reads the number of
// CPUs only at startup.
func pin() (cpus, error) {
	var c cpus
	if n, _ := fmt.Sscan(os.Getenv(chosen), &c.server, &c.generator); n == 2 {
		return c, os.Unsetenv(chosen)
	}
	c, err := firstCPUs()
	if err != nil {
		return cpus{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return cpus{}, fmt.Errorf("finding this program: %w", err)
	}
	runtime.LockOSThread()
	if err := useOnly(c.server); err != nil {
		return cpus{}, err
	}
	environment := append(os.Environ(), fmt.Sprintf("%s=%d %d", chosen, c.server, c.generator))
	return cpus{}, fmt.Errorf("starting again: %w", unix.Exec(self, os.Args, environment))
}

func firstCPUs() (cpus, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return cpus{}, fmt.Errorf("reading the allowed CPUs: %w", err)
	}
	var found []int
	for cpu := 0; len(found) < min(2, allowed.Count()); cpu++ {
		if allowed.IsSet(cpu) {
			found = append(found, cpu)
		}
	}
	if len(found) < 2 {
		return cpus{}, errors.New("two CPUs are required: one for k6 and one for the server")
	}
	return cpus{server: found[0], generator: found[1]}, nil
}

// start starts a command on the generator's CPU.
func (c cpus) start(command *exec.Cmd) error {
	// A process inherits the CPUs of its parent's thread. This thread returns to the server's
	// CPU. If that fails, it is not used again.
	runtime.LockOSThread()
	if err := useOnly(c.generator); err != nil {
		return err
	}
	err := command.Start()
	if back := useOnly(c.server); back != nil {
		return errors.Join(err, back)
	}
	runtime.UnlockOSThread()
	return err
}

func useOnly(cpu int) error {
	var only unix.CPUSet
	only.Set(cpu)
	if err := unix.SchedSetaffinity(0, &only); err != nil {
		return fmt.Errorf("using CPU %d only: %w", cpu, err)
	}
	return nil
}
