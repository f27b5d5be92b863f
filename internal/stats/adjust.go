// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values so that the chance of any false rejection in the
// family stays below alpha (Holm 1979). The result is in the order given. NaN
// stays NaN and does not count for the family.
func Holm(p []float64) []float64 {
	adjusted, order := ascending(p)
	last := 0.0
	for rank, i := range order {
		last = math.Min(1, math.Max(last, float64(len(order)-rank)*p[i]))
		adjusted[i] = last
	}
	return adjusted
}

// BenjaminiHochberg adjusts p-values so that at most the share alpha of the
// rejections is expected to be false (Benjamini and Hochberg 1995). The result
// is in the order given. NaN stays NaN and does not count.
func BenjaminiHochberg(p []float64) []float64 {
	adjusted, order := ascending(p)
	last := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		last = math.Min(last, p[i]*float64(len(order))/float64(rank+1))
		adjusted[i] = last
	}
	return adjusted
}

// ascending lists the places of the numbers from the smallest on, and makes
// room for the adjusted.
func ascending(p []float64) (adjusted []float64, order []int) {
	adjusted = slices.Clone(p)
	for i, value := range p {
		if !math.IsNaN(value) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return adjusted, order
}
