// SPDX-License-Identifier: Apache-2.0

package arms

import "perflab.dev/perflab/api/v1alpha1"

// Pair is an arm and the arm that it is compared with.
type Pair struct{ Arm, Against string }

// Pairs returns the additional comparisons besides those with the baseline, in declared
// order. The A/A control is in none.
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

// pairing returns a predicate for the wanted pairs, by arm index.
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

// levelNames returns the level names of each combination of a matrix, in the order of the
// arms.
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

// differing counts the factors in which two combinations differ.
func differing(a, b []string) int {
	count := 0
	for i, level := range a {
		if i < len(b) && b[i] != level {
			count++
		}
	}
	return count
}
