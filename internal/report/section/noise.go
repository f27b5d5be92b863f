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
		return []document.Block{document.Paragraph("No arm is known to be an A/A control of the baseline, so the noise floor is unknown.")}
	}
	if a.Twin == "" {
		return []document.Block{document.Paragraph("There is no A/A control, so the noise floor was not measured. To add one, set design.calibrate: true.")}
	}
	result := &document.Table{
		Caption: fmt.Sprintf("A/A control %s against baseline %s", a.Twin, a.Baseline),
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
		return []document.Block{document.Paragraph(fmt.Sprintf("The A/A control %s has no valid run yet, so the noise floor is unknown.", a.Twin))}
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
		return alike + "Any difference between them is due to chance; it is assessed together with the verdicts."
	case calibration.Calibrated:
		return alike + "Across all primary metrics, the experiment finds no difference between them, as expected."
	}
	return alike + fmt.Sprintf("However, it differs in %s, after adjustment for all primary metrics. Other arms may differ for the same reason, so all verdicts are withheld until it is known what else changes between runs.",
		prose.Counted(len(a.uncalibrated), "metric"))
}
