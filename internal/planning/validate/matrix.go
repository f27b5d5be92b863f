// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// maxArms is the limit of a status.
	maxArms = 64
	// maxArmName is the length limit of an arm's name, which is part of runs' names.
	maxArmName = 40
	// maxCombinations bounds the combinations before exclusions.
	maxCombinations = 4096
)

var matrixPath = field.NewPath("spec", "matrix")

func judgeMatrix(j *judgement, matrix *v1alpha1.Matrix) {
	if matrix == nil {
		return
	}
	judgeBaselines(j, matrix)
	judgeExclusions(j, matrix)
	combinations := 1
	for _, factor := range matrix.Factors {
		combinations *= len(factor.Levels)
	}
	if combinations > maxCombinations {
		j.refuse(field.Invalid(matrixPath.Child("factors"), combinations,
			fmt.Sprintf("the factors make %d combinations, and an experiment can have %d arms: remove factors or levels", combinations, maxArms)))
		return
	}
	judgeCombinations(j, arms.Combinations(matrix))
}

func judgeBaselines(j *judgement, matrix *v1alpha1.Matrix) {
	for i, factor := range matrix.Factors {
		var marked []string
		for _, level := range factor.Levels {
			if level.Baseline {
				marked = append(marked, level.Name)
			}
		}
		if len(marked) > 1 {
			j.refuse(field.Invalid(matrixPath.Child("factors").Index(i).Child("levels"), len(marked),
				fmt.Sprintf("factor %q has %d levels with baseline: true (%s): keep it at one of them", factor.Name, len(marked), quoted(marked))))
		}
	}
}

func judgeExclusions(j *judgement, matrix *v1alpha1.Matrix) {
	for i, entry := range matrix.Exclude {
		path := matrixPath.Child("exclude").Index(i)
		if len(entry) == 0 {
			j.refuse(field.Invalid(path, "{}", "the entry does not name a level, so it excludes nothing: write {factor: level}, or remove it"))
		}
		for _, name := range slices.Sorted(maps.Keys(entry)) {
			judgeExclusion(j, path, matrix, name, entry[name])
		}
	}
}

func judgeExclusion(j *judgement, path *field.Path, matrix *v1alpha1.Matrix, name, wanted string) {
	names := make([]string, 0, len(matrix.Factors))
	for _, factor := range matrix.Factors {
		names = append(names, factor.Name)
	}
	at := slices.Index(names, name)
	if at < 0 {
		j.refuse(field.Invalid(path.Key(name), wanted, fmt.Sprintf("the matrix has no factor %q: write one of its factors (%s)", name, prose.Enumerate(names))))
		return
	}
	levels := make([]string, 0, len(matrix.Factors[at].Levels))
	for _, level := range matrix.Factors[at].Levels {
		levels = append(levels, level.Name)
	}
	if !slices.Contains(levels, wanted) {
		j.refuse(field.Invalid(path.Key(name), wanted, fmt.Sprintf("factor %q has no level %q: write one of its levels (%s)", name, wanted, prose.Enumerate(levels))))
	}
}

func judgeCombinations(j *judgement, all []arms.Combination) {
	exclude := matrixPath.Child("exclude")
	if len(all) == 0 {
		j.refuse(field.Forbidden(exclude, "every combination is excluded: remove an entry"))
		return
	}
	if !slices.ContainsFunc(all, func(c arms.Combination) bool { return c.Baseline }) {
		j.refuse(field.Forbidden(exclude, "the combination of the baseline's levels is excluded, and the others are compared with it: remove that entry, or mark other levels with baseline: true"))
	}
	if len(all) > maxArms {
		j.refuse(field.Invalid(matrixPath.Child("factors"), len(all),
			fmt.Sprintf("the matrix has %d arms, and an experiment can have %d: remove levels, or list combinations in exclude", len(all), maxArms)))
	}
	seen := map[string]bool{}
	for _, combination := range all {
		switch name := combination.Name; {
		case len(name) > maxArmName:
			j.refuse(field.Invalid(matrixPath.Child("factors"), name,
				fmt.Sprintf("arm %q has a name of %d characters, and %d are allowed: shorten the levels' names", name, len(name), maxArmName)))
			return
		case seen[name]:
			j.refuse(field.Duplicate(matrixPath.Child("factors"), fmt.Sprintf("%s: two combinations give an arm of this name: rename a level", name)))
			return
		}
		seen[combination.Name] = true
	}
}
