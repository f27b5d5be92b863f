// SPDX-License-Identifier: Apache-2.0

package capacity

// pool is a flat part of a fit.
type pool struct {
	// first and last are the ends on the axis of x, y is the mean of count points.
	first, last, y float64
	count          int
}

// fitDecreasing fits y, which does not increase with x, by pooling adjacent violators. The
// points are in the order of x.
func fitDecreasing(x, y []float64) []pool {
	var pools []pool
	for i := range x {
		next := pool{first: x[i], last: x[i], y: y[i], count: 1}
		for len(pools) > 0 && pools[len(pools)-1].violates(next) {
			next = pools[len(pools)-1].join(next)
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, next)
	}
	return pools
}

// violates reports whether the next pool is higher, or at the same x.
func (p pool) violates(next pool) bool { return p.y < next.y || p.last == next.first }

func (p pool) join(next pool) pool {
	count := p.count + next.count
	mean := (float64(p.count)*p.y + float64(next.count)*next.y) / float64(count)
	return pool{first: p.first, last: next.last, y: mean, count: count}
}

// root of the line from the end of a pool to the start of one below 0.
func (p pool) root(next pool) float64 { return p.last + (next.first-p.last)*p.y/(p.y-next.y) }
