// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"
	"strings"

	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/prose"
)

// measuredElsewhere reports whether another tool measured the experiment, so that the page omits
// facts that only PerfLab could record.
func (r *Record) measuredElsewhere() bool { return provenance.Tool(&r.Experiment.Spec) != "" }

// withOrigin adds the measuring tool to a line, if it was not PerfLab.
func (r *Record) withOrigin(line string) string {
	if !r.measuredElsewhere() {
		return line
	}
	return line + "; " + provenance.Elsewhere(&r.Experiment)
}

func (r *Record) elsewhereSentence() string {
	return "It was " + provenance.Elsewhere(&r.Experiment) + ". PerfLab put no load on and saw nothing of the system."
}

// elsewhereDoubts are the doubts about an experiment that PerfLab did not measure.
func (r *Record) elsewhereDoubts() []string {
	return []string{
		"PerfLab saw nothing of the system: nothing proves that arms were configured as they are called, or that they differ in nothing else.",
		"The order of the runs was not randomized, so drift can look like an effect.",
	}
}

func (r *Record) elsewhereValidity() string {
	return "All runs that were read count: PerfLab did not see whether loads ended as planned, how many of their requests could not be answered beside those that their tool counted, and whether a server was restarted."
}

// elsewhereSteps describe the origin of the numbers.
func (r *Record) elsewhereSteps() []string {
	tool := provenance.Tool(&r.Experiment.Spec)
	steps := []string{
		fmt.Sprintf("%s measured it, before and without PerfLab. How the system was configured, and what was done between runs, stands in none of the files that it was read from.", tool),
		fmt.Sprintf("Runs were put into blocks as their files were given or number them: %s x %s x %s. That order was not drawn at random.",
			prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(r.Experiment.Spec.Design.Blocks, "block")),
		"All that is in the files counts: no warm-up was cut off. Percentiles are exact, by nearest rank, where a file has every sample, and as its tool computed them where it is a summary.",
		"The metrics that decide were chosen when the files were read, after the runs: " + elsewherePrimary(r.answer) + ".",
	}
	for _, note := range elsewhereNotes(r.journal) {
		steps = append(steps, capitalize(strings.TrimSuffix(note, "."))+".")
	}
	return steps
}

func elsewherePrimary(a *answer) string {
	if len(a.Question.Primary) == 0 {
		return "none, so that all are exploratory"
	}
	return fmt.Sprintf("%s, with a margin of %s at %s confidence", joinAnd(plainNames(a.Question.Primary)), percent(a.marginPercent), percent(a.confidencePercent))
}

// elsewhereNotes are the gaps of file formats, without duplicates.
func elsewhereNotes(runs journal) []string {
	var notes []string
	for _, run := range runs {
		for _, note := range run.Status.Warnings {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	return notes
}

func (r *Record) noInfrastructureText() string {
	if r.measuredElsewhere() {
		return "PerfLab saw nothing of what it ran on."
	}
	return "No run has recorded what it ran on yet."
}
