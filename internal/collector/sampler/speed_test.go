// SPDX-License-Identifier: Apache-2.0

package sampler

import "testing"

// The way goes through every rung before it comes back, or it would stay within a part of
// the cache and depend on where it began.
func TestTheSpeedometerGoesThroughAll(t *testing.T) {
	s := newSpeedometer()
	steps := 1
	for at := s.next[0]; at != 0; at = s.next[at] {
		steps++
	}
	if steps != rungs {
		t.Errorf("the way has %d rungs, want %d", steps, rungs)
	}
	before := s.at
	if s.walk(); s.at != before {
		t.Errorf("%d steps end at rung %d of %d, want whole rounds", stepsAtOnce, s.at, rungs)
	}
}

func TestSpeedIsThatOfACPU(t *testing.T) {
	speed, err := newSpeedometer().speed()
	// From a very slow one under an emulator to one that does a step in a third of a
	// nanosecond.
	if err != nil || speed < 0.1 || speed > 3000 {
		t.Errorf("%g million steps a second, %v", speed, err)
	}
}

// BenchmarkSpeed is what a look costs the node.
func BenchmarkSpeed(b *testing.B) {
	s := newSpeedometer()
	for b.Loop() {
		if _, err := s.speed(); err != nil {
			b.Fatal(err)
		}
	}
}
