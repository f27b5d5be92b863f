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

// Extent is how many blocks are planned. Reason and Message say why no more
// are; they are empty while there may be more, and without a target.
type Extent struct {
	Blocks          int32
	Reason, Message string
}

// Progress is what the number of blocks depends on. Of where effects lie it knows only
// verdicts of comparisons that allow for every look at them: who goes on until an effect
// shows finds one where there is none, unless each look has a level of its own.
type Progress struct {
	// Complete is the number of blocks that are complete.
	Complete int32
	// Started is the last block that has a run: what has been planned once stays
	// planned.
	Started int32
	// Elapsed is the time from the start of the first run to the end of the last
	// complete block's last.
	Elapsed time.Duration
	// Precision is that of the complete blocks, where the target is a half-width.
	Precision analysisplan.Precision
	// Verdicts is that of the complete blocks, where the target is verdicts.
	Verdicts analysisplan.VerdictProgress
}

// Extend says how many blocks to do: those of the design and, where it has a
// target, one more at a time until it is met, or can hardly be, or maxBlocks or the
// budget are reached.
func Extend(design v1alpha1.Design, progress Progress) Extent {
	planned := Extent{Blocks: max(design.Blocks, progress.Started)}
	if design.Target == nil || progress.Complete < planned.Blocks {
		return planned
	}
	seen, target, blocks := newGoal(design.Target, progress), design.Target, prose.Counted(planned.Blocks, "block")
	switch {
	case !seen.measured:
		planned.stop(v1alpha1.ReasonNoPrimaryMetric, "no primary metric has been measured in an arm and in the baseline, so that there is "+seen.lacking)
	case seen.met != "":
		planned.stop(seen.met, fmt.Sprintf("after %s %s", blocks, seen.state))
	case planned.Blocks >= target.MaxBlocks:
		planned.stop(v1alpha1.ReasonMaxBlocks, fmt.Sprintf("the %s of maxBlocks %s done, and %s", blocks, prose.Verb(planned.Blocks, "is", "are"), seen.state))
	case seen.hopeless != "":
		planned.stop(v1alpha1.ReasonHopeless, fmt.Sprintf("after %s %s, and %s", blocks, seen.state, seen.hopeless))
	case overBudget(design.BudgetOrNone(), progress):
		planned.stop(v1alpha1.ReasonBudget, fmt.Sprintf("%s took %s, and the budget of %s has no room for another; %s",
			blocks, progress.Elapsed.Round(time.Second), design.BudgetOrNone(), seen.state))
	default:
		planned.Blocks++
	}
	return planned
}

// goal is how far an experiment is from what its target asks for.
type goal struct {
	measured bool
	// lacking is what there is nothing of, where nothing is measured.
	lacking string
	// met is the reason to stop where the target is; else empty.
	met string
	// state is how things stand, in words.
	state string
	// hopeless says that further blocks would hardly help; empty: they may.
	hopeless string
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

// leastChance of a verdict for which further blocks are done.
const leastChance = 0.05

func verdicts(standing analysisplan.VerdictProgress, target *v1alpha1.PrecisionTarget) goal {
	seen := goal{measured: standing.Compared > 0, lacking: "nothing to give a verdict on"}
	if standing.Undecided == 0 {
		seen.met = v1alpha1.ReasonDecided
		seen.state = prose.Verb(standing.Compared, "the primary comparison", fmt.Sprintf("each of the %d primary comparisons", standing.Compared)) + " has a verdict"
		return seen
	}
	seen.state = fmt.Sprintf("%d of %s %s no verdict", standing.Undecided, prose.Counted(standing.Compared, "primary comparison"), prose.Verb(standing.Undecided, "has", "have"))
	if standing.Chance < leastChance {
		seen.hopeless = fmt.Sprintf("the blocks up to %d would give one to %s in arm %q with a chance of %.0f %%, and to no other with a greater",
			target.MaxBlocks, metric.Named(standing.Metric, standing.Scenario), standing.Arm, 100*standing.Chance)
	}
	return seen
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

func shown(widest analysisplan.Precision) string {
	where := fmt.Sprintf("(%s in arm %q)", metric.Named(widest.Metric, widest.Scenario), widest.Arm)
	if math.IsInf(widest.HalfWidthPercent, 1) {
		return "not known " + where
	}
	return fmt.Sprintf("±%.2g %% %s", widest.HalfWidthPercent, where)
}
