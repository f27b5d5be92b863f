// SPDX-License-Identifier: Apache-2.0

package changepoint

import (
	"fmt"
	"slices"
	"testing"
)

// BenchmarkFind takes series of two changes, and of none, where most of the
// permutations are saved.
func BenchmarkFind(b *testing.B) {
	for _, count := range []int{12, 48, 192} {
		for name, height := range map[string]float64{"none": 0, "two": 4} {
			points := noisy(1, 3, slices.Concat(level(0, count/3), level(height, count/3), level(0, count/3))...)
			b.Run(fmt.Sprintf("%s/%d", name, count), func(b *testing.B) {
				for b.Loop() {
					if _, err := Find(points, Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
