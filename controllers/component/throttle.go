// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// StatusThrottle spaces out status writes that only report progress: an environment that starts
// changes several times a second, and each write costs etcd a revision and each watcher an
// event. Decisions are written at once. A restart only forgets the last writes.
type StatusThrottle struct {
	// Interval is the minimum time between two progress writes. Zero: no throttling.
	Interval time.Duration

	mutex     sync.Mutex
	lastWrite map[types.UID]time.Time
}

// Remaining is how long the next progress write of an object must wait.
func (p *StatusThrottle) Remaining(of types.UID, now time.Time) time.Duration {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	last, known := p.lastWrite[of]
	if !known {
		return 0
	}
	return max(p.Interval-now.Sub(last), 0)
}

// RecordWrite records that an object's status was written.
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
		// An entry this old delays nothing, and its object may be gone.
		if now.Sub(at) >= p.Interval {
			delete(p.lastWrite, known)
		}
	}
	p.lastWrite[of] = now
}

// MinRequeueAfter is the shorter of two delays. Zero means no delay.
func MinRequeueAfter(one, other time.Duration) time.Duration {
	if one == 0 || other == 0 {
		return cmp.Or(one, other)
	}
	return min(one, other)
}
