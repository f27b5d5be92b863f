// SPDX-License-Identifier: Apache-2.0

package arms

import "perflab.dev/perflab/api/v1alpha1"

// Pair is an arm and the one it is compared with.
type Pair struct{ Arm, Against string }

// Pairs of arms that are compared beside each arm with the baseline, in the order
// in which they are declared. The baseline's twin is in none.
func Pairs(wanted v1alpha1.Pairs, matrix *v1alpha1.Matrix, all []Arm) []Pair {
	is := pairing(wanted, matrix)
	var candidates []Arm
	for _, arm := range all {
		if !arm.Twin {
			candidates = append(candidates, arm)
		}
	}
	var pairs []Pair
	for later, arm := range candidates {
		for earlier, against := range candidates[:later] {
			if !arm.Baseline && !against.Baseline && is(earlier, later) {
				pairs = append(pairs, Pair{Arm: arm.Name, Against: against.Name})
			}
		}
	}
	return pairs
}

// pairing tells the pairs that are wanted, by their places among the arms.
func pairing(wanted v1alpha1.Pairs, matrix *v1alpha1.Matrix) func(earlier, later int) bool {
	switch wanted {
	case v1alpha1.PairsAll:
		return func(int, int) bool { return true }
	case v1alpha1.PairsChain:
		return func(earlier, later int) bool { return later == earlier+1 }
	case v1alpha1.PairsWithinLevels:
		levels := levelNames(matrix)
		return func(earlier, later int) bool {
			return later < len(levels) && differing(levels[earlier], levels[later]) == 1
		}
	}
	return func(int, int) bool { return false }
}

// levelNames the combinations of a matrix, in the order of the arms they make.
func levelNames(matrix *v1alpha1.Matrix) [][]string {
	if matrix == nil {
		return nil
	}
	var levels [][]string
	for _, combination := range Combinations(matrix) {
		var names []string
		for _, level := range combination.Levels {
			names = append(names, level.Name)
		}
		levels = append(levels, names)
	}
	return levels
}

// differing is the number of factors in which two combinations differ.
func differing(a, b []string) int {
	count := 0
	for i, level := range a {
		if i < len(b) && b[i] != level {
			count++
		}
	}
	return count
}
