// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/prose"
)

// Report is an experiment's page, ready to be written in any format.
type Report struct {
	record *record
	page   document
}

// New builds the report. It fails with ErrInput where recorded objects
// contradict each other or can't be read.
func New(input Input) (*Report, error) {
	r, err := newRecord(input)
	if err != nil {
		return nil, fmt.Errorf("experiment %q: %w", input.Experiment.Name, err)
	}
	page := document{Title: input.Experiment.Name, Subtitle: subtitle(r), Facts: facts(r), Banner: bannerOf(r)}
	for _, kind := range sections {
		page.Sections = append(page.Sections, section{ID: kind.id, Title: kind.title, Blocks: kind.blocks(r)})
	}
	return &Report{record: r, page: page}, nil
}

func subtitle(r *record) string {
	return fmt.Sprintf("%s, %s, %s", prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(r.Experiment.Spec.Design.Blocks, "block"))
}

func facts(r *record) []fact {
	valid, invalid, _ := r.journal.counts()
	first, _ := r.journal.span()
	return []fact{
		{Label: "Phase", Text: string(cmp.Or(r.Experiment.Status.Phase, v1alpha1.ExperimentPending))},
		{Label: "Runs", Text: fmt.Sprintf("%d valid, %d invalid", valid, invalid)},
		{Label: "Noise floor", Text: noiseWords(r.answer)},
		{Label: "Began (UTC)", Text: moment(first)},
		{Label: "Lasted, hh:mm:ss", Text: r.journal.length()},
		{Label: "Plan", Text: cmp.Or(r.Experiment.Status.PlanHash, dash)},
	}
}
