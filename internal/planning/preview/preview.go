// SPDX-License-Identifier: Apache-2.0

// Package preview predicts an experiment: its runs in order, their duration, the heap of
// every module in every arm, and the differences between the arms. It is pure and needs no
// cluster.
package preview

import (
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/steps"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/plan"
)

// Preview is the prediction of an experiment.
type Preview struct {
	Experiment string `json:"experiment"`
	// Blocks, Scenarios and Arms multiply to the number of runs.
	Blocks    int32    `json:"blocks"`
	Scenarios []string `json:"scenarios"`
	Arms      []Arm    `json:"arms"`
	// Seed of the order; nil if it is derived from the UID at creation, so that the shown
	// order is an example.
	Seed *int64 `json:"seed,omitempty"`
	Runs []Run  `json:"runs"`
	// WallTime is the estimate for all runs, with its assumptions.
	WallTime Estimate `json:"wallTime"`
	Heaps    []Heap   `json:"heaps,omitempty"`
	// Capacities describe the scenarios with a capacity.
	Capacities []Capacity `json:"capacities,omitempty"`
	// Faults are those of all scenarios.
	Faults []Fault `json:"faults,omitempty"`
	// Primary are the primary metrics.
	Primary []string `json:"primary,omitempty"`
	// MarginPercent and ConfidencePercent of the analysis.
	MarginPercent     int32 `json:"marginPercent"`
	ConfidencePercent int32 `json:"confidencePercent"`
	// Power of the design; none without a primary comparison.
	Power []Power `json:"power,omitempty"`
	// Designs are the declared one and others, each with its power and duration; none if
	// the declared one detects an effect as large as the margin within a working day.
	Designs []Design `json:"designs,omitempty"`
	// Costs of each arm; none without a price list.
	Costs []Cost `json:"costs,omitempty"`
	// HeapShifts summarize the heaps: one entry per arm except the baseline.
	HeapShifts []HeapShift `json:"heapShifts,omitempty"`
}

// Arm is one configuration and its differences from the baseline.
type Arm struct {
	Name        string                `json:"name"`
	Baseline    bool                  `json:"baseline,omitempty"`
	Twin        bool                  `json:"twin,omitempty"`
	Differences []v1alpha1.Difference `json:"differences,omitempty"`
}

// Run is one planned run.
type Run struct {
	Position int32  `json:"position"`
	Block    int32  `json:"block"`
	Arm      string `json:"arm"`
	Scenario string `json:"scenario"`
	// Start of the run, from the experiment's start.
	Start Duration `json:"start"`
}

// New previews an experiment over its system. Without a seed it shows the order of seed
// zero.
func New(experiment *v1alpha1.PerfExperiment, system v1alpha1.System, assumed Assumptions) Preview {
	spec := &experiment.Spec
	seed := int64(0)
	if spec.Design.Seed != nil {
		seed = *spec.Design.Seed
	}
	planned := plan.From(spec, system, seed)
	timed := *spec
	timed.Scenarios = steps.WithDurations(spec.Scenarios, spec.Measurement)
	spec = &timed
	preview := Preview{
		Experiment: experiment.Name,
		Blocks:     spec.DesignOrDefault().Blocks,
		Seed:       spec.Design.Seed,
		Heaps:      heaps(declared(planned.Arms)),
	}
	preview.HeapShifts = heapShifts(planned.Arms, preview.Heaps)
	baseline, _ := arms.Baseline(planned.Arms)
	for _, arm := range planned.Arms {
		preview.Arms = append(preview.Arms, Arm{
			Name: arm.Name, Baseline: arm.Baseline, Twin: arm.Twin,
			Differences: arms.Differences(baseline.System, arm.System),
		})
	}
	lasting := map[string]time.Duration{}
	for _, scenario := range spec.Scenarios {
		preview.Scenarios = append(preview.Scenarios, scenario.Name)
		lasting[scenario.Name] = assumed.scenario(scenario)
	}
	elapsed, byArm := time.Duration(0), map[string]time.Duration{}
	for _, run := range planned.Runs {
		preview.Runs = append(preview.Runs, Run{
			Position: run.Position, Block: run.Block, Arm: run.Arm, Scenario: run.Scenario, Start: Duration(elapsed),
		})
		elapsed += lasting[run.Scenario] + assumed.Overhead
		byArm[run.Arm] += lasting[run.Scenario] + assumed.Overhead
	}
	preview.WallTime = Estimate{Total: Duration(elapsed), Max: longest(spec.DesignOrDefault(), elapsed), Assumes: assumed.sentences(spec), Unknown: assumed.unknown(spec)}
	question := analysisplan.New(spec)
	preview.Primary, preview.MarginPercent, preview.ConfidencePercent = question.Primary, question.MarginPercent, question.ConfidencePercent
	preview.Capacities, preview.Faults = capacities(spec, assumed.ConfigMaps), newFaults(spec)
	preview.Power = powers(spec, planned.Arms, assumed)
	preview.Designs = designs(spec, planned.Arms, assumed)
	if len(preview.WallTime.Unknown) > 0 {
		byArm = nil
	}
	preview.Costs = costs(spec, planned.Arms, assumed.Prices, byArm)
	return preview
}

// declared returns the arms without the A/A control, whose heaps equal the baseline's.
func declared(all []arms.Arm) []arms.Arm {
	return slices.DeleteFunc(slices.Clone(all), func(arm arms.Arm) bool { return arm.Twin })
}

// longest returns the duration of the largest number of blocks: no block is added that
// would exceed the budget.
func longest(design v1alpha1.Design, elapsed time.Duration) Duration {
	if design.MostBlocks() == design.Blocks {
		return 0
	}
	lasts := elapsed / time.Duration(design.Blocks) * time.Duration(design.MostBlocks())
	if budget := design.BudgetOrNone(); budget > 0 {
		lasts = max(elapsed, min(lasts, budget))
	}
	return Duration(lasts)
}
