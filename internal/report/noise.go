// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/prose"
)

// noise shows what the experiment makes of no difference at all.
func noise(r *record) []block {
	a := r.answer
	if a.Twin == "" {
		return []block{paragraph("No arm is configured as the baseline, so the noise floor was not measured. design.calibrate: true adds one.")}
	}
	result := &table{
		Caption: fmt.Sprintf("%s against %s, which are configured alike", a.Twin, a.Baseline),
		Columns: slices.Concat(words("Scenario", "Metric"), numbers("Blocks", "Delta", "Interval", "p"), words("Differs")),
	}
	for _, c := range a.where(func(c shownComparison) bool { return c.Twin && c.Primary }) {
		differs := "no"
		if c.Adjusted < 1-a.confidence() {
			differs = "yes"
		}
		result.Rows = append(result.Rows, row{Cells: append(
			names(c.Scenario, c.Metric), texts(whole(c.Blocks), c.deltaCell(), c.interval(), c.probability(), differs)...)})
	}
	if r.describesOnly() {
		result.without("Interval", "p", "Differs")
	}
	if len(result.Rows) == 0 {
		return []block{paragraph(fmt.Sprintf("The baseline's twin %s has no run that counts yet, so the noise floor is not known.", a.Twin))}
	}
	return slices.Concat([]block{paragraph(noiseSentence(a))}, chartsAt(r, inNoise, r.scenarios...), result.blocks())
}

// noiseWords are the same in a word or two.
func noiseWords(a *answer) string {
	calibration := a.Calibration()
	switch {
	case a.Twin == "":
		return "not measured"
	case !calibration.Known:
		return "not known yet"
	case calibration.Calibrated:
		return "calibrated"
	}
	return "exceeded: no verdicts"
}

func noiseSentence(a *answer) string {
	alike := fmt.Sprintf("%s has the configuration of %s. ", a.Twin, a.Baseline)
	switch calibration := a.Calibration(); {
	case !calibration.Known:
		return alike + "What lies between them is chance; how much of it there is will be judged with the verdicts."
	case calibration.Calibrated:
		return alike + "Judged by all metrics that decide together, nothing lies between them: the experiment finds no difference where there is none."
	}
	return alike + fmt.Sprintf("Yet it differs on %s, judged by all metrics that decide together. So would any arm: every verdict is withheld until it is known what else changes between runs.",
		prose.Counted(len(a.uncalibrated), "metric"))
}
