// SPDX-License-Identifier: Apache-2.0

package contents

import (
	"encoding/json"
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/archive"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/plan"
)

const (
	// kindPlan is the item with the planned runs in their order.
	kindPlan      = "Plan"
	mediaTypePlan = "application/json"
)

// plannedRun is a run of a plan, with field names of the API.
type plannedRun struct {
	Position int32  `json:"position"`
	Block    int32  `json:"block"`
	Arm      string `json:"arm"`
	Scenario string `json:"scenario"`
}

// addPlan adds the plan that the experiment's runs followed. The status determines it,
// because the seed determines the order. Experiments measured elsewhere have none.
func addPlan(record *archive.Record, experiment *v1alpha1.PerfExperiment) error {
	status := &experiment.Status
	each := int32(len(status.Arms) * len(experiment.Spec.Scenarios))
	if status.PlanHash == "" || status.Seed == nil || status.Runs == nil || each == 0 {
		return nil
	}
	drawn := plan.Plan{Seed: *status.Seed, Hash: status.PlanHash, Arms: arms.Recorded(status.Arms)}
	drawn.Grow(&experiment.Spec, status.Runs.Planned/each)
	written := struct {
		Hash string       `json:"hash"`
		Seed int64        `json:"seed"`
		Runs []plannedRun `json:"runs"`
	}{drawn.Hash, drawn.Seed, make([]plannedRun, 0, len(drawn.Runs))}
	for _, run := range drawn.Runs {
		written.Runs = append(written.Runs, plannedRun{run.Position, run.Block, run.Arm, run.Scenario})
	}
	text, err := json.Marshal(written)
	if err != nil {
		return fmt.Errorf("encoding the plan of experiment %q: %w", experiment.Name, err)
	}
	record.Items = append(record.Items, archive.Item{Kind: kindPlan, Name: experiment.Name, MediaType: mediaTypePlan, Bytes: text})
	return nil
}
