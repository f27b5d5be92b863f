// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math"
	"time"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/planning/analysisplan"
	"perflab.dev/perflab/internal/text/prose"
)

// Extent is the number of planned blocks. Reason and Message describe why there are no more; they
// are empty while more may follow, and without a target.
type Extent struct {
	Blocks          int32
	Reason, Message string
}

// Progress is the input of the decision on the number of blocks. It holds only verdicts
// that are adjusted for interim analyses: stopping at the first visible effect would find
// effects that do not exist.
type Progress struct {
	// Complete is the number of complete blocks.
	Complete int32
	// Started is the last block that has a run: a planned block stays planned.
	Started int32
	// Elapsed is the time from the start of the first run to the end of the last complete
	// block.
	Elapsed time.Duration
	// Precision of the complete blocks, for a half-width target.
	Precision analysisplan.Precision
	// Verdicts of the complete blocks, for a verdict target.
	Verdicts analysisplan.VerdictProgress
}

// Extend returns the number of blocks: those of the design and, with a target, one more at
// a time until the target is met or hardly reachable, or maxBlocks or the budget is
// reached.
func Extend(design v1alpha1.Design, progress Progress) Extent {
	planned := Extent{Blocks: max(design.Blocks, progress.Started)}
	if design.Target == nil || progress.Complete < planned.Blocks {
		return planned
	}
	seen, target, blocks := newGoal(design.Target, progress), design.Target, prose.Counted(planned.Blocks, "block")
	switch {
	case !seen.measured:
		planned.stop(v1alpha1.ReasonNoPrimaryMetric, "no primary metric has been measured in both an arm and the baseline, so there is "+seen.lacking)
	case seen.met != "":
		planned.stop(seen.met, fmt.Sprintf("after %s, %s", blocks, seen.state))
	case planned.Blocks >= target.MaxBlocks:
		planned.stop(v1alpha1.ReasonMaxBlocks, fmt.Sprintf("the %s of maxBlocks %s finished, and %s", blocks, prose.Verb(planned.Blocks, "is", "are"), seen.state))
	case seen.futility != "":
		planned.stop(v1alpha1.ReasonFutility, fmt.Sprintf("after %s, %s, and %s", blocks, seen.state, seen.futility))
	case overBudget(design.BudgetOrNone(), progress):
		planned.stop(v1alpha1.ReasonBudget, fmt.Sprintf("%s took %s, and the budget of %s has no room for another; %s",
			blocks, progress.Elapsed.Round(time.Second), design.BudgetOrNone(), seen.state))
	default:
		planned.Blocks++
	}
	return planned
}

// goal is the state of an experiment's target.
type goal struct {
	measured bool
	// lacking describes which measurement is missing, if there is none.
	lacking string
	// met is the reason to stop if the target is met; else empty.
	met string
	// state describes the progress.
	state string
	// futility describes why more blocks would hardly help; empty if they may.
	futility string
}

func newGoal(target *v1alpha1.PrecisionTarget, progress Progress) goal {
	if target.Verdicts {
		return verdicts(progress.Verdicts, target)
	}
	return precision(progress.Precision, target)
}

func precision(widest analysisplan.Precision, target *v1alpha1.PrecisionTarget) goal {
	seen := goal{measured: widest.Measured, lacking: "no interval to narrow"}
	is := "beyond"
	if widest.HalfWidthPercent <= float64(target.HalfWidthPercent) {
		seen.met, is = v1alpha1.ReasonTargetMet, "within"
	}
	seen.state = fmt.Sprintf("the widest interval is %s, %s the target of ±%d %%", shown(widest), is, target.HalfWidthPercent)
	return seen
}

// leastChance is the smallest probability of a verdict for which another block runs.
const leastChance = 0.05

func verdicts(standing analysisplan.VerdictProgress, target *v1alpha1.PrecisionTarget) goal {
	seen := goal{measured: standing.Compared > 0, lacking: "no comparison to decide"}
	if standing.Undecided == 0 {
		seen.met = v1alpha1.ReasonDecided
		seen.state = prose.Verb(standing.Compared, "the primary comparison", fmt.Sprintf("each of the %d primary comparisons", standing.Compared)) + " has a verdict"
		return seen
	}
	seen.state = fmt.Sprintf("%d of %s %s no verdict", standing.Undecided, prose.Counted(standing.Compared, "primary comparison"), prose.Verb(standing.Undecided, "has", "have"))
	if standing.Chance < leastChance {
		seen.futility = fmt.Sprintf("the probability of another verdict by block %d is at most %.0f %% (%s in arm %q)",
			target.MaxBlocks, 100*standing.Chance, metric.DisplayName(standing.Metric, standing.Scenario), standing.Arm)
	}
	return seen
}

func (e *Extent) stop(reason, message string) { e.Reason, e.Message = reason, message }

// overBudget reports whether another block of average length would exceed the budget.
func overBudget(budget time.Duration, progress Progress) bool {
	if budget == 0 || progress.Complete == 0 {
		return false
	}
	return progress.Elapsed+progress.Elapsed/time.Duration(progress.Complete) > budget
}

func shown(widest analysisplan.Precision) string {
	where := fmt.Sprintf("(%s in arm %q)", metric.DisplayName(widest.Metric, widest.Scenario), widest.Arm)
	if math.IsInf(widest.HalfWidthPercent, 1) {
		return "not known " + where
	}
	return fmt.Sprintf("±%.2g %% %s", widest.HalfWidthPercent, where)
}
