// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

func TestComparisonsNeedPairs(t *testing.T) {
	for name, test := range map[string]struct {
		pairs         v1alpha1.Pairs
		arms          []string
		fault, warned bool
	}{
		"none":                    {"", []string{"a", "b"}, false, false},
		"all of three":            {v1alpha1.PairsAll, []string{"a", "b", "c"}, false, false},
		"all of two":              {v1alpha1.PairsAll, []string{"a", "b"}, false, true},
		"levels without a matrix": {v1alpha1.PairsWithinLevels, []string{"a", "b", "c"}, true, false},
	} {
		made := experiment()
		made.Spec.Matrix, made.Spec.Arms = nil, nil
		for i, arm := range test.arms {
			made.Spec.Arms = append(made.Spec.Arms, v1alpha1.Arm{Name: arm, Baseline: i == 0})
		}
		made.Spec.Analysis.Comparisons = test.pairs
		faults, warnings := validate.Experiment(made, validate.Known{})
		fault := slices.ContainsFunc(faults, func(one *field.Error) bool { return strings.Contains(one.Detail, "write All or Chain") })
		warned := slices.ContainsFunc(warnings, func(warning validate.Warning) bool {
			return strings.Contains(warning.Message, "analysis.comparisons has no effect")
		})
		if fault != test.fault || warned != test.warned {
			t.Errorf("%s: faults %v, warnings %q", name, faults, warnings)
		}
	}
}
