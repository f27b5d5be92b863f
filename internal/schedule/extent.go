// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/question"
)

// Extent is how many blocks are planned. Reason and Message say why no more
// are; they are empty while there may be more, and without a target.
type Extent struct {
	Blocks          int32
	Reason, Message string
}

// Progress is what the number of blocks depends on. It holds how wide intervals
// are and how long blocks take, and nothing of where effects lie: who goes on
// until an effect shows finds one where there is none.
type Progress struct {
	// Complete is the number of blocks that are complete.
	Complete int32
	// Begun is the last block that has a run: what has been planned once stays
	// planned.
	Begun int32
	// Elapsed is the time from the start of the first run to the end of the last
	// complete block's last.
	Elapsed time.Duration
	// Precision is that of the complete blocks.
	Precision question.Precision
}

// Extend says how many blocks to do: those of the design and, where it has a
// target, one more at a time until the widest interval is narrow enough, or
// maxBlocks or the budget are reached.
func Extend(design v1alpha1.Design, progress Progress) Extent {
	planned := Extent{Blocks: max(design.Blocks, progress.Begun)}
	if design.Target == nil || progress.Complete < planned.Blocks {
		return planned
	}
	widest, target := progress.Precision, design.Target
	switch {
	case !widest.Measured:
		planned.stop(v1alpha1.ReasonNoPrimaryMetric, "no primary metric has been measured in an arm and in the baseline, so that there is no interval to narrow")
	case widest.HalfWidthPercent <= float64(target.HalfWidthPercent):
		planned.stop(v1alpha1.ReasonTargetMet, fmt.Sprintf("after %s the widest interval is %s, within the target of ±%d %%",
			prose.Counted(planned.Blocks, "block"), shown(widest), target.HalfWidthPercent))
	case planned.Blocks >= target.MaxBlocks:
		planned.stop(v1alpha1.ReasonMaxBlocks, fmt.Sprintf("the %s of maxBlocks %s done, and the widest interval is %s, beyond the target of ±%d %%",
			prose.Counted(planned.Blocks, "block"), prose.Verb(planned.Blocks, "is", "are"), shown(widest), target.HalfWidthPercent))
	case overBudget(design.BudgetOrNone(), progress):
		planned.stop(v1alpha1.ReasonBudget, fmt.Sprintf("%s took %s, and the budget of %s has no room for another; the widest interval is %s, beyond the target of ±%d %%",
			prose.Counted(planned.Blocks, "block"), progress.Elapsed.Round(time.Second), design.BudgetOrNone(), shown(widest), target.HalfWidthPercent))
	default:
		planned.Blocks++
	}
	return planned
}

func (e *Extent) stop(reason, message string) { e.Reason, e.Message = reason, message }

// overBudget tells whether another block, as long as those before were on
// average, would end after the budget.
func overBudget(budget time.Duration, progress Progress) bool {
	if budget == 0 || progress.Complete == 0 {
		return false
	}
	return progress.Elapsed+progress.Elapsed/time.Duration(progress.Complete) > budget
}

func shown(widest question.Precision) string {
	where := fmt.Sprintf("(%s in arm %q)", metric.Named(widest.Metric, widest.Scenario), widest.Arm)
	if math.IsInf(widest.HalfWidthPercent, 1) {
		return "not known " + where
	}
	return fmt.Sprintf("±%.2g %% %s", widest.HalfWidthPercent, where)
}
