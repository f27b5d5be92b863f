// SPDX-License-Identifier: Apache-2.0

package sampler

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// ladderSteps of a speedometer take 256 KiB, which fits into a core's own cache.
	ladderSteps = 1 << 16
	// stepsAtOnce take about a millisecond.
	stepsAtOnce = 1 << 18
)

// speedometer repeats a fixed piece of work. It takes more CPU time if several machines share
// processors or heat throttles them, which no other metric shows.
type speedometer struct {
	// next rung of each: one cycle through all of them, in an order without a pattern.
	next []uint32
	at   uint32
}

func newSpeedometer() *speedometer {
	next := make([]uint32, ladderSteps)
	for i := range next {
		next[i] = uint32(i) //nolint:gosec // There are 65,536.
	}
	// Sattolo's shuffle makes one cycle; the same one everywhere.
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // It need not be secret.
	for i := len(next) - 1; i > 0; i-- {
		j := random.IntN(i)
		next[i], next[j] = next[j], next[i]
	}
	return &speedometer{next: next}
}

// speed returns how many million steps are done in a second of CPU time. Each step depends on the
// previous one. Waiting for a CPU does not count.
func (s *speedometer) speed() (float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Other code has used the cache before.
	s.walk()
	before, err := threadTime()
	if err != nil {
		return 0, err
	}
	s.walk()
	after, err := threadTime()
	if err != nil {
		return 0, err
	}
	const million = 1e6
	return stepsAtOnce / million / max(after-before, time.Nanosecond).Seconds(), nil
}

func (s *speedometer) walk() {
	at := s.at
	for range stepsAtOnce {
		at = s.next[at]
	}
	s.at = at
}

// threadTime is the CPU time of the calling thread.
func threadTime() (time.Duration, error) {
	var used unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &used); err != nil {
		return 0, fmt.Errorf("reading the thread's CPU time: %w", err)
	}
	return time.Duration(used.Nano()), nil
}
