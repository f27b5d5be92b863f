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
	// kindPlan is the item that describes what was to be done, in which order.
	kindPlan      = "Plan"
	mediaTypePlan = "application/json"
)

// plannedRun is a place of a plan, in words of the API.
type plannedRun struct {
	Position int32  `json:"position"`
	Block    int32  `json:"block"`
	Arm      string `json:"arm"`
	Scenario string `json:"scenario"`
}

// addPlan adds the plan that the experiment's runs followed, which its status gives
// whole: the order is drawn with the seed. What was measured elsewhere has none.
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
