// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"math"
	"slices"
)

// Adjusted is an adjusted comparison in a family.
type Adjusted struct {
	// P is the adjusted p-value. NaN if there was none, which does not count for the family.
	P float64
	// Level of the interval that goes with P: alpha divided by the factor that adjusted p (as Efird
	// and Nielsen 2008). So the interval at confidence 1-Level excludes zero exactly if P is below
	// alpha.
	//
	// Of the intervals of the R rejected comparisons of m, at most the share alpha is expected to
	// miss its effect: none of their levels is above alpha*R/m, which suffices for any selection
	// (Benjamini and Yekutieli 2005). With BenjaminiHochberg that is obvious; the r-th of Holm's
	// has at most alpha/(m-r+1), and m <= R*(m-R+1).
	Level float64
}

// Holm adjusts p-values so that the probability of any false rejection in the family stays below
// alpha (Holm 1979). The result is in the given order.
func Holm(p []float64, alpha float64) []Adjusted {
	adjusted, order := ascending(p)
	last := 0.0
	for rank, i := range order {
		last = math.Min(1, math.Max(last, float64(len(order)-rank)*p[i]))
		adjusted[i] = last
	}
	return withLevels(p, adjusted, alpha)
}

// BenjaminiHochberg adjusts p-values so that at most the share alpha of the rejections is expected
// to be false (Benjamini and Hochberg 1995). The result is in the given order.
func BenjaminiHochberg(p []float64, alpha float64) []Adjusted {
	adjusted, order := ascending(p)
	last := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		last = math.Min(last, p[i]*float64(len(order))/float64(rank+1))
		adjusted[i] = last
	}
	return withLevels(p, adjusted, alpha)
}

func withLevels(p, adjusted []float64, alpha float64) []Adjusted {
	made := make([]Adjusted, len(p))
	for i := range p {
		made[i] = Adjusted{P: adjusted[i], Level: alpha}
		if adjusted[i] > 0 {
			made[i].Level = alpha * p[i] / adjusted[i]
		}
	}
	return made
}

// ascending returns the indexes of the numbers from the smallest on, and a slice for the adjusted
// ones.
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
