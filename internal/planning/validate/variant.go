// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
)

// variant is an arm with the paths of its settings.
type variant struct {
	name string
	// path of the arm, or of the matrix for a combination.
	path *field.Path
	// sets in order of application.
	sets []writtenSet
}

// writtenSet is a set and its path.
type writtenSet struct {
	// title names the set's owner.
	title string
	path  *field.Path
	set   *v1alpha1.SystemSet
}

// listVariants lists the arms of an experiment; those of a matrix only if it is valid.
func listVariants(spec *v1alpha1.PerfExperimentSpec, sound bool) []variant {
	if spec.Matrix == nil {
		return listed(spec.Arms)
	}
	if !sound {
		return nil
	}
	return combined(spec.Matrix)
}

func listed(all []v1alpha1.Arm) []variant {
	variants := make([]variant, 0, len(all))
	for i, arm := range all {
		path := field.NewPath("spec", "arms").Index(i)
		variants = append(variants, variant{name: arm.Name, path: path, sets: []writtenSet{
			{title: title("arm", arm.Name), path: path.Child("set"), set: arm.Set},
		}})
	}
	return variants
}

func combined(matrix *v1alpha1.Matrix) []variant {
	var variants []variant
	for _, combination := range arms.Combinations(matrix) {
		levels := variant{name: combination.Name, path: matrixPath}
		for i, level := range combination.Levels {
			levels.sets = append(levels.sets, writtenLevel(matrix, i, level.Name))
		}
		variants = append(variants, levels)
	}
	return variants
}

func writtenLevel(matrix *v1alpha1.Matrix, factor int, name string) writtenSet {
	for i, level := range matrix.Factors[factor].Levels {
		if level.Name == name {
			return writtenSet{
				title: title("level", name) + " of " + title("factor", matrix.Factors[factor].Name),
				path:  matrixPath.Child("factors").Index(factor).Child("levels").Index(i).Child("set"),
				set:   level.Set,
			}
		}
	}
	// Combinations consist of the factors' levels.
	panic("a combination has a level that its factor does not have: " + name)
}

// over returns the system with the variant's settings applied.
func (v variant) over(system v1alpha1.System) v1alpha1.System {
	for _, written := range v.sets {
		system = arms.Resolve(system, written.set)
	}
	return system
}

// place returns the path that the author can fix: the first of the finding's settings that
// a set contains, in the last applied set.
func (v variant) place(finding finding) *field.Path {
	for _, written := range slices.Backward(v.sets) {
		if written.set == nil {
			continue
		}
		if place := patchPlace(written.set.Patches, written.path.Child("patches").Index, finding); place != nil {
			return place
		}
	}
	for _, setting := range finding.settings {
		for i := len(v.sets) - 1; i >= 0; i-- {
			if path, given := v.sets[i].locate(setting); given {
				return path
			}
		}
	}
	return v.path
}
