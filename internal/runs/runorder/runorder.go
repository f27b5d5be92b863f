// SPDX-License-Identifier: Apache-2.0

// Package runorder sorts an experiment's runs by execution.
package runorder

import (
	"cmp"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
)

// Compare orders runs by position, and the attempts at a position by number.
func Compare(a, b *v1alpha1.PerfRun) int {
	return cmp.Or(cmp.Compare(a.Spec.Position, b.Spec.Position), cmp.Compare(a.Spec.Attempt, b.Spec.Attempt), cmp.Compare(a.Name, b.Name))
}

// Sorted returns pointers to the runs, sorted by execution, including invalid attempts.
func Sorted(runs []v1alpha1.PerfRun) []*v1alpha1.PerfRun {
	ordered := make([]*v1alpha1.PerfRun, 0, len(runs))
	for i := range runs {
		ordered = append(ordered, &runs[i])
	}
	slices.SortStableFunc(ordered, Compare)
	return ordered
}
