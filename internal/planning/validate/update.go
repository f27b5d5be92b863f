// SPDX-License-Identifier: Apache-2.0

package validate

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/analysisplan"
)

// Update rejects changes of fields that are immutable once the first run is planned,
// because runs are compared under them.
func Update(before, after *v1alpha1.PerfExperiment) field.ErrorList {
	if before.Status.StartTime == nil {
		return nil
	}
	found := &judgement{}
	spec := field.NewPath("spec")
	for _, part := range frozenParts(&before.Spec, &after.Spec) {
		if !equality.Semantic.DeepEqual(part.before, part.after) {
			found.refuse(field.Forbidden(spec.Child(part.name),
				fmt.Sprintf("the experiment has started, so only suspend, cleanup, retention, lane, notes, design.maxRuns, design.target.maxBlocks, design.budget and design.blocks (upwards) may change: restore %s, or give the changed experiment a new name; if you do not need its runs, delete the experiment and apply the changed one", part.title())))
		}
	}
	was, is := before.Spec.DesignOrDefault().Blocks, after.Spec.DesignOrDefault().Blocks
	if is < was {
		found.refuse(field.Invalid(spec.Child("design", "blocks"), is,
			fmt.Sprintf("the experiment has started, so design.blocks may only be raised above %d: a planned block can't be removed", was)))
	}
	if before, after := analysisplan.New(&before.Spec).Interim, analysisplan.New(&after.Spec).Interim; before.Last > 0 && after.Last > 0 && before != after {
		found.refuse(field.Forbidden(spec.Child("design"),
			fmt.Sprintf("the experiment has started, and its error probability is spent over interim analyses after blocks %d to %d: restore design.blocks and design.target.maxBlocks, or give the changed experiment a new name", before.First, before.Last)))
	}
	if gone := before.Status.History; gone != nil && gone.Runs != nil && is > was {
		found.refuse(field.Invalid(spec.Child("design", "blocks"), is,
			fmt.Sprintf("the runs were deleted on %s (retention.runs), so no block can be added to them: restore design.blocks to %d, and give an experiment with more blocks a new name",
				gone.Runs.UTC().Format(time.DateOnly), was)))
	}
	if gone := before.Status.History; gone != nil && gone.Runs != nil && !equality.Semantic.DeepEqual(before.Spec.Notes, after.Spec.Notes) {
		found.refuse(field.Forbidden(spec.Child("notes"),
			fmt.Sprintf("the runs were deleted on %s (retention.runs), so the report cannot be written again with other notes: restore spec.notes", gone.Runs.UTC().Format(time.DateOnly))))
	}
	return found.errors
}

// frozenPart is a part of the spec before and after a change.
type frozenPart struct {
	name          string
	before, after any
}

func (p frozenPart) title() string {
	if p.name == "design" {
		return "spec.design.order, seed, calibrate and target.halfWidthPercent or verdicts"
	}
	return "spec." + p.name
}

func frozenParts(before, after *v1alpha1.PerfExperimentSpec) []frozenPart {
	order := func(spec *v1alpha1.PerfExperimentSpec) any {
		design := spec.DesignOrDefault()
		target := v1alpha1.PrecisionTarget{}
		if design.Target != nil {
			target = *design.Target
			target.MaxBlocks = 0
		}
		return []any{design.Order, design.Seed, design.Calibrate, target}
	}
	return []frozenPart{
		{"question", before.Question, after.Question},
		{"system", before.System, after.System},
		{"systemRef", before.SystemRef, after.SystemRef},
		{"arms", before.Arms, after.Arms},
		{"matrix", before.Matrix, after.Matrix},
		{"scenarios", before.Scenarios, after.Scenarios},
		{"design", order(before), order(after)},
		{"analysis", before.Analysis, after.Analysis},
		{"measurement", before.Measurement, after.Measurement},
		{"reset", before.Reset, after.Reset},
		{"restore", before.Restore, after.Restore},
		{"keepWarm", before.KeepWarm, after.KeepWarm},
		{"cost", before.Cost, after.Cost},
		{"validity", before.Validity, after.Validity},
		{"deadlines", before.Deadlines, after.Deadlines},
	}
}
