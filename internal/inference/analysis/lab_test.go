// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/text/decimal"
)

// bench generates runs with known true values.
type bench struct {
	arms      []arms.Arm
	scenarios []string
	blocks    int
	metrics   []string
	// value of a metric in a run, before noise; nil: 400.
	value func(at position) float64
	// spread of a run, as a share.
	spread float64
}

// position identifies a run.
type position struct {
	arm, scenario, metric string
	block, position       int
	// before is the arm of the previous run.
	before string
}

func (b bench) runs() []v1alpha1.PerfRun {
	random := rand.New(rand.NewPCG(4, 2))
	var runs []v1alpha1.PerfRun
	before := ""
	for block := 1; block <= b.blocks; block++ {
		for at, place := range random.Perm(len(b.arms) * len(b.scenarios)) {
			arm, scenario := b.arms[place%len(b.arms)].Name, b.scenarios[place/len(b.arms)]
			run := v1alpha1.PerfRun{}
			run.Name = fmt.Sprintf("run-%d", len(runs)+1)
			run.Spec.Block, run.Spec.Position, run.Spec.Attempt = int32(block), int32(len(runs)+1), 1
			run.Spec.Arm, run.Spec.Scenario.Name = arm, scenario
			run.Status.Phase = v1alpha1.RunSucceeded
			for _, metric := range b.metrics {
				value := 400.0
				if b.value != nil {
					value = b.value(position{arm, scenario, metric, block, at + 1, before})
				}
				run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{
					Metric: metric, Unit: "ms", Value: decimal.Format(value * math.Exp(b.spread*random.NormFloat64())),
				})
			}
			runs = append(runs, run)
			before = arm
		}
	}
	return runs
}

func (b bench) spec() *v1alpha1.PerfExperimentSpec {
	spec := &v1alpha1.PerfExperimentSpec{}
	for _, name := range b.scenarios {
		spec.Scenarios = append(spec.Scenarios, v1alpha1.Scenario{Name: name, Loads: []v1alpha1.Load{
			{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}},
		}})
	}
	return spec
}

// newArms are a baseline and others.
func newArms(names ...string) []arms.Arm {
	var all []arms.Arm
	for i, name := range names {
		all = append(all, arms.Arm{Name: name, Baseline: i == 0, Twin: name == "twin"})
	}
	return all
}
