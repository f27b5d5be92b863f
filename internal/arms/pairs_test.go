// SPDX-License-Identifier: Apache-2.0

package arms_test

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestPairs(t *testing.T) {
	matrix := &v1alpha1.Matrix{Factors: []v1alpha1.Factor{
		{Name: "split", Levels: []v1alpha1.Level{{Name: "off"}, {Name: "on"}}},
		{Name: "size", Levels: []v1alpha1.Level{{Name: "s"}, {Name: "m"}}},
	}}
	all := []arms.Arm{{Name: "off-s", Baseline: true}, {Name: "off-m"}, {Name: "on-s"}, {Name: "on-m"}, {Name: "twin", Twin: true}}
	for wanted, want := range map[v1alpha1.Pairs][]arms.Pair{
		"":                         nil,
		v1alpha1.PairsAll:          {{"on-s", "off-m"}, {"on-m", "off-m"}, {"on-m", "on-s"}},
		v1alpha1.PairsChain:        {{"on-s", "off-m"}, {"on-m", "on-s"}},
		v1alpha1.PairsWithinLevels: {{"on-m", "off-m"}, {"on-m", "on-s"}},
	} {
		expect.Equal(t, want, arms.Pairs(wanted, matrix, all), "%s", wanted)
	}
	if got := arms.Pairs(v1alpha1.PairsWithinLevels, nil, all); got != nil {
		t.Errorf("without a matrix %v are within levels", got)
	}
}
