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
	page := document{
		Title: input.Experiment.Name, Subtitle: subtitle(r), Facts: r.facts(),
		// The order in which performance teams publish.
		Sections: []section{
			overview(r), summary(r), recommendations(r), testRuns(r), resultsOf(r), comparisons(r),
			resources(r), validity(r), noise(r), methodology(r), appendix(r),
		},
	}
	return &Report{record: r, page: page}, nil
}

func subtitle(r *record) string {
	return fmt.Sprintf("%s, %s, %s", prose.Counted(len(r.arms), "arm"), prose.Counted(len(r.scenarios), "scenario"), prose.Counted(r.Experiment.Spec.Design.Blocks, "block"))
}

func (r *record) facts() []fact {
	valid, invalid, _ := r.counts()
	phase := cmp.Or(r.Experiment.Status.Phase, v1alpha1.ExperimentPending)
	first, _ := r.span()
	return []fact{
		{Label: "Phase", Text: string(phase)},
		{Label: "Runs", Text: fmt.Sprintf("%d valid, %d invalid", valid, invalid)},
		{Label: "Noise floor", Text: r.noiseFloor()},
		{Label: "Began (UTC)", Text: moment(first)},
		{Label: "Lasted, hh:mm:ss", Text: r.length()},
		{Label: "Plan", Text: cmp.Or(r.Experiment.Status.PlanHash, dash)},
	}
}

// noiseFloor in a word or two.
func (r *record) noiseFloor() string {
	if r.twin() == "" {
		return "not measured"
	}
	switch calibration := r.answer.Calibration(); {
	case !calibration.Known:
		return "not known yet"
	case calibration.Calibrated:
		return "calibrated"
	}
	return "exceeded: no verdicts"
}
