// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"time"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// describesOnly reports whether there are comparisons but too few blocks to judge them. Such a
// page shows runs, not intervals.
func (r *Record) describesOnly() bool {
	return len(r.answer.Comparisons) > 0 && !r.answer.Enough()
}

func newBanner(r *Record) *document.Banner {
	if !r.describesOnly() || r.isAlone() {
		return nil
	}
	return &document.Banner{
		Title: "Too few blocks for a verdict",
		Sentences: slices.Concat(
			[]string{fmt.Sprintf("%s %s complete; a verdict needs %d. The results are descriptive: any difference may be real or due to chance.",
				prose.Counted(r.answer.Blocks, "block"), prose.Verb(r.answer.Blocks, "is", "are"), r.answer.Needed())},
			spreadSentence(r), []string{nextStep(r)}),
	}
}

// spreadSentence compares the runs of the arm that spreads most, as a scale for differences
// between arms.
func spreadSentence(r *Record) []string {
	widest, where := 1.0, ""
	for _, c := range r.answer.filter(func(c shownComparison) bool { return c.Primary && c.Scale == comparison.Ratio }) {
		for _, arm := range []string{c.Baseline, c.Arm} {
			if ratio := spread(r, c, arm); ratio > widest {
				widest, where = ratio, fmt.Sprintf("%s of %s", c.metric.Under(c.Scenario), arm)
			}
		}
	}
	if where == "" {
		return nil
	}
	return []string{fmt.Sprintf("Runs of the same arm differ by up to %s (%s).", apart(widest), where)}
}

// spread of an arm's runs: the largest over the smallest.
func spread(r *Record, of shownComparison, arm string) float64 {
	found := r.scenarioNamed(of.Scenario).at(of.Metric, arm)
	if found == nil {
		return 1
	}
	return found.peak() / slices.Min(found.numbers)
}

// apart formats a ratio of runs: as percent, or from two as a factor.
func apart(ratio float64) string {
	if ratio < 2 {
		return digits.Fixed(100*(ratio-1), 0) + digits.Space + "%"
	}
	return "a factor of " + digits.Fixed(ratio, 1)
}

// nextStep is what is missing for verdicts, and about how long that takes at the current pace.
func nextStep(r *Record) string {
	further := r.answer.Needed() - r.answer.Blocks
	runs := int(further) * len(r.arms) * len(r.scenarios)
	text := fmt.Sprintf("Next step: %s (%s)", prose.Counted(further, "more block"), prose.Counted(runs, "run"))
	if perRun := r.journal.pace(); perRun > 0 {
		text += ", about " + digits.Approximate(perRun*time.Duration(runs)) + " at the current pace"
	}
	if r.answer.Question.Interim.Last == 0 && r.Experiment.Spec.DesignOrDefault().Blocks < verdict.MinimumBlocks {
		return text + fmt.Sprintf(". Raise design.blocks to %d; the completed runs remain valid.", verdict.MinimumBlocks)
	}
	return text + ". " + prose.Verb(further, "It is", "They are") + " already planned."
}
