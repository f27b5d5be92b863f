// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// noise shows what the experiment measures without any difference.
func noise(r *Record) []document.Block {
	a := r.answer
	if a.Twin == "" && r.measuredElsewhere() {
		return []document.Block{document.Paragraph("No second arm is known to have the baseline's configuration, so the noise floor is not known.")}
	}
	if a.Twin == "" {
		return []document.Block{document.Paragraph("No second arm has the baseline's configuration, so the noise floor was not measured. design.calibrate: true adds one.")}
	}
	result := &document.Table{
		Caption: fmt.Sprintf("%s against %s, which have the same configuration", a.Twin, a.Baseline),
		Columns: slices.Concat(document.TextColumns("Scenario", "Metric"), document.NumberColumns("Blocks", "Delta", "Interval", "p"), document.TextColumns("Differs")),
	}
	for _, c := range a.filter(func(c shownComparison) bool { return c.Twin && c.Primary }) {
		differs := "no"
		if c.Differs(a.Question.Alpha()) {
			differs = "yes"
		}
		result.Rows = append(result.Rows, document.Row{Cells: append(
			nameCells(c.Scenario, c.Metric), document.TextCells(digits.Count(c.Blocks), c.deltaCell(), c.interval(), c.probability(), differs)...)})
	}
	if r.describesOnly() {
		result.Without("Interval", "p", "Differs")
	}
	if len(result.Rows) == 0 {
		return []document.Block{document.Paragraph(fmt.Sprintf("The baseline's twin %s has no run that counts yet, so the noise floor is unknown.", a.Twin))}
	}
	return slices.Concat([]document.Block{document.Paragraph(noiseSentence(a))}, chartsIn(r, inNoise, r.scenarios...), result.Blocks())
}

// noiseWords are the calibration in a word or two.
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
	alike := fmt.Sprintf("%s has the same configuration as %s. ", a.Twin, a.Baseline)
	switch calibration := a.Calibration(); {
	case !calibration.Known:
		return alike + "Any difference between them is chance; how much there is will be judged with the verdicts."
	case calibration.Calibrated:
		return alike + "Across all deciding metrics the experiment finds no difference between them, as it should."
	}
	return alike + fmt.Sprintf("Yet it differs on %s, across all deciding metrics. So might any arm: every verdict is withheld until it is known what else changes between runs.",
		prose.Counted(len(a.uncalibrated), "metric"))
}
