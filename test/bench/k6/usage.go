// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// meter measures a process's usage from its creation on.
type meter struct {
	pid      int
	from     time.Time
	cpu      time.Duration
	counters []int // file descriptors, one for each thread; none if unavailable
}

// used is a process's usage over a period.
type used struct {
	cpu          time.Duration // in its own code and in the kernel
	instructions float64       // in its own code; 0 if not counted
	took         time.Duration
}

func newMeter(pid int) (*meter, error) {
	m := &meter{pid: pid, counters: countInstructions(pid)}
	var err error
	m.cpu, err = cpuTime(pid)
	m.from = time.Now()
	return m, err
}

// read returns the usage, and stops the count of instructions.
func (m *meter) read() (used, error) {
	u := used{took: time.Since(m.from), instructions: m.instructions()}
	cpu, err := cpuTime(m.pid)
	u.cpu = cpu - m.cpu
	return u, err
}

// cpuTime returns the CPU time of a process in nanoseconds, while getrusage and /proc have
// hundredths of a second.
func cpuTime(pid int) (time.Duration, error) {
	// clock_getcpuclockid(3): the inverted process id, and the kind of clock.
	const ofScheduler = 2
	var spent unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|ofScheduler), &spent); err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	return time.Duration(spent.Nano()), nil
}

// countInstructions starts to count instructions on all existing threads and the threads that
// they start. It uses the CPU's own counters, which virtual machines often lack.
func countInstructions(pid int) []int {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	var counters []int
	for _, thread := range threads {
		counter, err := countThread(thread.Name())
		if errors.Is(err, unix.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			closeAll(counters)
			return nil
		}
		counters = append(counters, counter)
	}
	return counters
}

func countThread(name string) (int, error) {
	thread, err := strconv.Atoi(name)
	if err != nil {
		return 0, err
	}
	event := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_INSTRUCTIONS,
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	return unix.PerfEventOpen(&event, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// instructions returns the number of counted instructions, 0 if unavailable.
func (m *meter) instructions() float64 {
	defer closeAll(m.counters)
	var sum uint64
	for _, counter := range m.counters {
		var value [8]byte
		if n, err := unix.Read(counter, value[:]); err != nil || n != len(value) {
			return 0
		}
		sum += binary.NativeEndian.Uint64(value[:])
	}
	return float64(sum)
}

func closeAll(counters []int) {
	for _, counter := range counters {
		_ = unix.Close(counter) // nothing was written to it
	}
}
