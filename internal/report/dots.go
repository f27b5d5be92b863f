// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/text/prose"
)

// primaryMetrics are those that decide, of what a scenario has.
func primaryMetrics(r *record, under *scenario) []string {
	var subjects []string
	for _, m := range under.metrics {
		if r.answer.Question.IsPrimary(m.Name) {
			subjects = append(subjects, m.Name)
		}
	}
	return subjects
}

// dots show every run of every arm, with their center and its interval.
func dots(_ *record, under *scenario, subject string) (chart, bool) {
	m, in := metric.Parse(subject), under.display(subject)
	var rows []Sample
	alt := fmt.Sprintf("Every valid run of each arm: %s, in %s. ", m.Under(under.Name), in.unit)
	for _, arm := range under.arms {
		found := under.at(subject, arm.Name)
		if found == nil {
			continue
		}
		found = found.in(in)
		low, high := found.shownInterval()
		rows = append(rows, Sample{
			Series: arm.series(), Values: found.numbers, Center: found.center(), Low: low, High: high,
			Label: found.scale.CenterWord() + " " + found.shownWithUnit(),
		})
		alt += fmt.Sprintf("%s: %s from %s to %s, %s %s. ", arm.Name, prose.Counted(len(found.numbers), "run"), fixed(slices.Min(found.numbers), found.places), fixed(found.peak(), found.places), found.scale.CenterWord(), found.shown())
	}
	return chart{Title: "Every run: " + m.Phrase(), Alt: alt, SVG: Dots(rows, shownUnit(in.unit))}, true
}
