// SPDX-License-Identifier: Apache-2.0

// Package preview says what an experiment will do before it is done: its runs
// in order, how long they will take, the heap of every module in every arm, and
// what moves between the arms. It is pure and needs no cluster.
package preview

import (
	"slices"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/plan"
)

// Preview is what an experiment will do.
type Preview struct {
	Experiment string `json:"experiment"`
	// Blocks, Scenarios and Arms multiply to the number of runs.
	Blocks    int32    `json:"blocks"`
	Scenarios []string `json:"scenarios"`
	Arms      []Arm    `json:"arms"`
	// Seed of the order; nil: drawn when the experiment is created, so that
	// the order shown is one of many.
	Seed *int64 `json:"seed,omitempty"`
	Runs []Run  `json:"runs"`
	// WallTime is the estimate for all runs, with what it assumes.
	WallTime Estimate `json:"wallTime"`
	Heaps    []Heap   `json:"heaps,omitempty"`
	// Primary are the metrics that decide.
	Primary []string `json:"primary,omitempty"`
	// MarginPercent and ConfidencePercent of the question.
	MarginPercent     int32 `json:"marginPercent"`
	ConfidencePercent int32 `json:"confidencePercent"`
	// Power is what the design can show; none without a primary comparison.
	Power []Power `json:"power,omitempty"`
	// Designs are the declared one and others, each with what it finds and how long it
	// takes; none where the declared one finds an effect as large as the margin within
	// a working day.
	Designs []Design `json:"designs,omitempty"`
	// Costs of each arm; none without a price list.
	Costs []Cost `json:"costs,omitempty"`
	// HeapShifts sum the heaps up: one entry per arm but the baseline.
	HeapShifts []HeapShift `json:"heapShifts,omitempty"`
}

// Arm is one configuration and what makes it another than the baseline.
type Arm struct {
	Name        string                `json:"name"`
	Baseline    bool                  `json:"baseline,omitempty"`
	Twin        bool                  `json:"twin,omitempty"`
	Differences []v1alpha1.Difference `json:"differences,omitempty"`
}

// Run is one run in its place.
type Run struct {
	Position int32  `json:"position"`
	Block    int32  `json:"block"`
	Arm      string `json:"arm"`
	Scenario string `json:"scenario"`
	// Start is when the run begins, from the experiment's start.
	Start Duration `json:"start"`
}

// New previews an experiment over its system. An experiment without a seed is
// shown with the order of seed zero.
func New(experiment *v1alpha1.PerfExperiment, system v1alpha1.System, assumed Assumptions) Preview {
	spec := &experiment.Spec
	seed := int64(0)
	if spec.Design.Seed != nil {
		seed = *spec.Design.Seed
	}
	planned := plan.From(spec, system, seed)
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
	asked := analysisplan.New(spec)
	preview.Primary, preview.MarginPercent, preview.ConfidencePercent = asked.Primary, asked.MarginPercent, asked.ConfidencePercent
	preview.Power = powers(spec, planned.Arms, assumed)
	preview.Designs = designs(spec, planned.Arms, assumed)
	if len(preview.WallTime.Unknown) > 0 {
		byArm = nil
	}
	preview.Costs = costs(spec, planned.Arms, assumed.Prices, byArm)
	return preview
}

// declared are the arms without the twin, whose heaps are the baseline's.
func declared(all []arms.Arm) []arms.Arm {
	return slices.DeleteFunc(slices.Clone(all), func(arm arms.Arm) bool { return arm.Twin })
}

// longest is the time the largest number of blocks takes: no block is added that
// would not end within the budget.
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
