// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
	// ticks is the number of clock ticks per second that the kernel reports to programs.
	ticks = 100
)

// usage is the resources that a process uses, from the kernel.
type usage struct {
	// cpu is the time of all threads since the start, in seconds.
	cpu float64
	// resident is the current memory, peak the maximum, in bytes.
	resident, peak float64
}

func readUsage(pid int) (usage, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return usage{}, err
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return usage{}, err
	}
	return parseUsage(string(stat), string(status))
}

// parseUsage reads the files stat and status of proc(5).
func parseUsage(stat, status string) (usage, error) {
	// The name, in parentheses, can contain anything.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 13 {
		return usage{}, fmt.Errorf("reading the resource use of a process: %q", stat)
	}
	var used usage
	for _, field := range fields[11:13] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return usage{}, fmt.Errorf("reading the resource use of a process: %w", err)
		}
		used.cpu += n / ticks
	}
	var err error
	if used.resident, err = field(status, "VmRSS:"); err != nil {
		return usage{}, err
	}
	used.peak, err = field(status, "VmHWM:")
	return used, err
}

func field(status, name string) (float64, error) {
	for line := range strings.Lines(status) {
		if rest, found := strings.CutPrefix(line, name); found {
			n, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return n * kib, err
		}
	}
	return 0, fmt.Errorf("the process has no %s", name)
}

// threadSeconds returns the CPU seconds of a process's threads, in nanoseconds, while readUsage
// counts hundredths of a second. Threads that have ended are missing, but Go's threads rarely
// end.
func threadSeconds(pid int) (float64, error) {
	paths, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(paths) == 0 {
		return 0, fmt.Errorf("cannot read the threads of process %d: %w", pid, err)
	}
	var sum float64
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue
		}
		if err != nil {
			return 0, err
		}
		ran, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseFloat(ran, 64)
		if err != nil {
			return 0, fmt.Errorf("reading %s: %w", path, err)
		}
		sum += n / 1e9
	}
	return sum, nil
}

// loadAverage returns the average number of programs on this machine that required a CPU in the
// last minute.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

// machine describes the machine.
func machine() string {
	model := "CPUs of an unknown model"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if _, name, found := strings.Cut(line, "model name\t: "); found {
				model = strings.TrimSpace(name)
				break
			}
		}
	}
	return fmt.Sprintf("%d CPUs, %s, %s", runtime.NumCPU(), model, runtime.Version())
}
