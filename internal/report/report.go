// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/text/prose"
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
	page := document{Title: title(r), Subtitle: subtitle(r), Card: cardOf(r), Series: seriesOf(r.arms)}
	for _, kind := range sections {
		if kind.id == beforePast {
			page.Sections = append(page.Sections, againstPast(r)...)
		}
		page.Sections = append(page.Sections, section{ID: kind.id, Title: kind.title, Folded: slices.Contains(lookedUp, kind.id), Blocks: append(kind.blocks(r), r.notesIn(kind.id)...)})
	}
	page.finish()
	return &Report{record: r, page: page}, nil
}

func subtitle(r *record) string {
	return r.afterwards(fmt.Sprintf("%s: %s, %s, %s", r.Experiment.Name, prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(max(r.Experiment.Spec.DesignOrDefault().Blocks, r.blocks), "block")))
}
