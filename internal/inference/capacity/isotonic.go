// SPDX-License-Identifier: Apache-2.0

package capacity

// point of a fit, with the number of observations that it stands for.
type point struct{ x, y, weight float64 }

// fitDecreasing fits y, which does not increase with x, by pooling adjacent violators. The
// points are in the order of x. Each pool is a single point at its mean, which removes the flat
// stretches, and most of the bias, of a plain isotonic fit.
func fitDecreasing(points []point) []point {
	var pools []point
	for _, next := range points {
		for len(pools) > 0 && violates(pools[len(pools)-1], next) {
			next = pool(pools[len(pools)-1], next)
			pools = pools[:len(pools)-1]
		}
		pools = append(pools, next)
	}
	return pools
}

func violates(before, next point) bool { return before.y < next.y || before.x == next.x }

func pool(a, b point) point {
	weight := a.weight + b.weight
	return point{x: (a.weight*a.x + b.weight*b.x) / weight, y: (a.weight*a.y + b.weight*b.y) / weight, weight: weight}
}

// root of the line through two points on different sides of 0.
func root(a, b point) float64 { return a.x + (b.x-a.x)*a.y/(a.y-b.y) }
