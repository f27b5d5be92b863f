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
	return "It was " + provenance.Elsewhere(&r.Experiment) + ". PerfLab neither generated the load nor observed the system."
}

// elsewhereDoubts are the doubts about an experiment that PerfLab did not measure.
func (r *Record) elsewhereDoubts() []string {
	return []string{
		"PerfLab did not observe the system: it can't verify that the arms were configured as their names indicate, or that they differ in nothing else.",
		"The order of the runs was not randomized, so drift can look like an effect.",
	}
}

func (r *Record) elsewhereValidity() string {
	return "All imported runs are considered valid: PerfLab did not observe whether loads ended as planned, how many requests failed in addition to those that the tool counted, or whether a server restarted."
}

// elsewhereSteps describe the origin of the numbers.
func (r *Record) elsewhereSteps() []string {
	tool := provenance.Tool(&r.Experiment.Spec)
	steps := []string{
		fmt.Sprintf("%s made the measurements, without PerfLab. The imported files do not contain the configuration of the system, or what was done between runs.", tool),
		fmt.Sprintf("Runs were assigned to blocks in the order of the files, or by the numbers in them: %s x %s x %s. This order was not randomized.",
			prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(r.Experiment.Spec.Design.Blocks, "block")),
		"All data in the files is included; no warm-up was removed. Percentiles are exact, by nearest rank, if a file has every sample, and as the tool computed them if it is a summary.",
		"The primary metrics were chosen when the files were imported, after the runs: " + elsewherePrimary(r.answer) + ".",
	}
	for _, note := range elsewhereNotes(r.journal) {
		steps = append(steps, capitalize(strings.TrimSuffix(note, "."))+".")
	}
	return steps
}

func elsewherePrimary(a *answer) string {
	if len(a.Question.Primary) == 0 {
		return "none, so all metrics are exploratory"
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
		return "PerfLab did not observe the infrastructure."
	}
	return "No run has recorded its infrastructure yet."
}
