// SPDX-License-Identifier: Apache-2.0

package runorder_test

import (
	"slices"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/runorder"
)

func run(name string, position, attempt int32) v1alpha1.PerfRun {
	made := v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{Position: position, Attempt: attempt}}
	made.Name = name
	return made
}

func TestSorted(t *testing.T) {
	runs := []v1alpha1.PerfRun{run("d", 2, 1), run("c", 1, 2), run("b", 1, 1), run("a", 1, 1)}
	var names []string
	for _, one := range runorder.Sorted(runs) {
		names = append(names, one.Name)
	}
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(names, want) {
		t.Errorf("sorted as %q, want %q", names, want)
	}
	if runs[0].Name != "d" {
		t.Error("the given runs were sorted")
	}
}
