// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/testing/expect"
)

// A metric that an arm's settings change has no verdict, unless the question asks about it.
func TestConfiguredMetricsHaveNoVerdict(t *testing.T) {
	const (
		ofReplica, ofPrimary = "postgres/replica-1/connections/total/average", "postgres/primary/connections/idle/average"
		cpuOfReplica         = "postgres/replica-1/cpu/average"
		cpuOfPrimary         = "postgres/primary/cpu/average"
	)
	metrics := []string{checkIn, ofReplica, ofPrimary, cpuOfReplica, cpuOfPrimary, "module/mod-a/cpu/average"}
	split := &v1alpha1.ReadWriteSplit{Enabled: true}
	for name, tc := range map[string]struct {
		base, slow v1alpha1.Postgres
		guards     []string
		neutral    []string
	}{
		"the same":         {base: v1alpha1.Postgres{Instances: 2}, slow: v1alpha1.Postgres{Instances: 2, Parameters: map[string]string{"work_mem": "8MB"}}},
		"a split":          {base: v1alpha1.Postgres{Instances: 2}, slow: v1alpha1.Postgres{Instances: 2, ReadWriteSplit: split}, neutral: []string{ofReplica, ofPrimary, cpuOfReplica}},
		"another replica":  {base: v1alpha1.Postgres{Instances: 2}, slow: v1alpha1.Postgres{Instances: 3}, neutral: []string{ofReplica, ofPrimary, cpuOfReplica}},
		"a pooler":         {base: v1alpha1.Postgres{Instances: 2}, slow: v1alpha1.Postgres{Instances: 2, Pooler: &v1alpha1.Pooler{}}, neutral: []string{ofReplica, ofPrimary, cpuOfReplica}},
		"one that guards":  {base: v1alpha1.Postgres{Instances: 2}, slow: v1alpha1.Postgres{Instances: 2, ReadWriteSplit: split}, guards: []string{ofReplica}, neutral: []string{ofPrimary, cpuOfReplica}},
		"another database": {},
	} {
		t.Run(name, func(t *testing.T) {
			made := bench{arms: newArms("base", "slow"), scenarios: []string{"s"}, blocks: 8, metrics: metrics, spread: 0.01, value: tenth}
			runs := made.runs()
			for i := range runs {
				runs[i].Spec.System.Postgres = map[string]*v1alpha1.Postgres{"base": &tc.base, "slow": &tc.slow}[runs[i].Spec.Arm]
			}
			spec := made.spec()
			spec.Analysis.Guards = tc.guards
			answer := analysis.Analyze(spec, made.arms, 1, runs)
			var neutral []string
			for _, metric := range metrics {
				if got := findComparison(t, answer, metric, "slow"); got.Verdict != verdict.Worse {
					expect.Equal(t, comparison.CodeChangedBySettings, got.Withheld.Code, "%s is %q because", metric, got.Verdict)
					neutral = append(neutral, metric)
				}
			}
			expect.Equal(t, tc.neutral, neutral, "the metrics without a verdict")
		})
	}
}
