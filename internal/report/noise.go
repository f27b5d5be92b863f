// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/prose"
)

// noise shows what the experiment makes of no difference at all.
func noise(r *record) section {
	made := section{ID: "noise-floor", Title: "Noise floor"}
	twin := r.twin()
	if twin == "" {
		made.Blocks = append(made.Blocks, paragraph("No arm is configured as the baseline, so the noise floor was not measured. design.calibrate: true adds one."))
		return made
	}
	found := &table{
		Caption: fmt.Sprintf("%s against %s, which are configured alike", twin, r.baseline()),
		Columns: slices.Concat(words("Scenario", "Metric"), numbers("Blocks", "Delta", "Interval"), words("In"), numbers("p"), words("Differs")),
	}
	for i := range r.answer.Comparisons {
		if c := &r.answer.Comparisons[i]; c.Twin && c.Primary {
			found.Rows = append(found.Rows, r.noiseRow(tell(c)))
		}
	}
	if len(found.Rows) == 0 {
		made.Blocks = append(made.Blocks, paragraph(fmt.Sprintf("The baseline's twin %s has no run that counts yet, so the noise floor is not known.", twin)))
		return made
	}
	calibration := r.answer.Calibration()
	made.Blocks = append(made.Blocks, paragraph(r.noiseSentence(calibration.Known, calibration.Calibrated)))
	if charts := r.noiseForests(); len(charts) > 0 {
		made.Blocks = append(made.Blocks, block{Charts: charts})
	}
	made.Blocks = append(made.Blocks, block{Table: found})
	return made
}

func (r *record) noiseSentence(known, calibrated bool) string {
	alike := fmt.Sprintf("%s is configured as %s. ", r.twin(), r.baseline())
	switch {
	case !known:
		return alike + fmt.Sprintf("%s %s complete, too few to judge what lies between them.", prose.Counted(r.answer.Blocks, "block"), prose.Verb(r.answer.Blocks, "is", "are"))
	case calibrated:
		return alike + "Judged by all metrics that decide together, nothing lies between them: the experiment finds no difference where there is none."
	}
	return alike + fmt.Sprintf("Yet it differs on %s, judged by all metrics that decide together. So would any arm: every verdict is withheld until it is known what else changes between runs.",
		prose.Counted(len(r.answer.uncalibrated), "metric"))
}

func (r *record) noiseRow(t told) row {
	differs := "no"
	if t.Adjusted < 1-r.confidence() {
		differs = "yes"
	}
	return row{Cells: []cell{name(t.Scenario), name(t.Metric), {Text: whole(t.Blocks)}, {Text: t.delta()}, {Text: t.interval()}, {Text: t.deltaUnit()}, {Text: probability(t.Adjusted)}, {Text: differs}}}
}
