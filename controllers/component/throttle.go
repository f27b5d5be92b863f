// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// StatusThrottle spaces out the writes that merely tell people how far something is: an
// environment that comes up changes its mind several times a second, and each word is
// a write for etcd and a pass for whoever watches. What is decided is written at once.
// Nothing rests on a pace: an operator that has just started tells at once.
type StatusThrottle struct {
	// Interval is the time between two words. Zero: each is written.
	Interval time.Duration

	mutex     sync.Mutex
	lastWrite map[types.UID]time.Time
}

// Remaining is how long a word about an object has to wait.
func (p *StatusThrottle) Remaining(of types.UID, now time.Time) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	last, known := p.lastWrite[of]
	if !known {
		return 0
	}
	return max(p.Interval-now.Sub(last), 0)
}

// RecordWrite notes that an object's status was written.
func (p *StatusThrottle) RecordWrite(of types.UID, now time.Time) {
	if p.Interval == 0 {
		return
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.lastWrite == nil {
		p.lastWrite = map[types.UID]time.Time{}
	}
	for known, at := range p.lastWrite {
		// What was written that long ago waits for nothing, and may be gone.
		if now.Sub(at) >= p.Interval {
			delete(p.lastWrite, known)
		}
	}
	p.lastWrite[of] = now
}

// MinRequeueAfter is the earlier of two waits, of which zero has no end.
func MinRequeueAfter(one, other time.Duration) time.Duration {
	if one == 0 || other == 0 {
		return cmp.Or(one, other)
	}
	return min(one, other)
}
