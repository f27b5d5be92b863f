// SPDX-License-Identifier: Apache-2.0

package arms_test

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/arms"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestChanges(t *testing.T) {
	cases := map[string]struct {
		reason      string
		differences []v1alpha1.Difference
		want        []arms.Change
	}{
		"NoList": {
			differences: []v1alpha1.Difference{{Setting: "postgres.parameters.work_mem", Arm: "8MB"}},
			want:        []arms.Change{{Setting: "postgres.parameters.work_mem", Baseline: "not set", Arm: "8MB"}},
		},
		"Alike": {
			reason: "what is done to several modules is told once",
			differences: []v1alpha1.Difference{
				{Setting: "modules[a].jvm.heap", Baseline: "1Gi", Arm: "2Gi"},
				{Setting: "modules[b].jvm.heap", Baseline: "3Gi", Arm: "2Gi"},
				{Setting: "modules[c].jvm.heap", Baseline: "1Gi", Arm: "2Gi"},
			},
			want: []arms.Change{
				{Setting: "modules.jvm.heap (a, c)", Baseline: "1Gi", Arm: "2Gi"},
				{Setting: "modules.jvm.heap (b)", Baseline: "3Gi", Arm: "2Gi"},
			},
		},
		"Variables": {
			reason: "two variables of one value are two changes",
			differences: []v1alpha1.Difference{
				{Setting: "modules[a].env[LINGER]", Arm: "5"},
				{Setting: "modules[a].env[POOL]", Arm: "5"},
				{Setting: "modules[b].env[LINGER]", Arm: "5"},
			},
			want: []arms.Change{
				{Setting: "env LINGER (a, b)", Baseline: "not set", Arm: "5"},
				{Setting: "env POOL (a)", Baseline: "not set", Arm: "5"},
			},
		},
		"Secret": {
			reason:      "where a secret is taken from is told, what it is never",
			differences: []v1alpha1.Difference{{Setting: "modules[a].env[DB_PASSWORD]", Baseline: "hunter2", Arm: "from Secret db, key password"}},
			want:        []arms.Change{{Setting: "env DB_PASSWORD (a)", Baseline: "(not shown)", Arm: "from Secret db, key password"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			expect.Equal(t, tc.want, arms.Changes(tc.differences), "%s", tc.reason)
		})
	}
}
