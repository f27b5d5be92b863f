// SPDX-License-Identifier: Apache-2.0

package section

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/chart"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
)

// primaryMetrics are the deciding metrics of a scenario.
func primaryMetrics(r *Record, under *scenario) []string {
	var subjects []string
	for _, m := range under.metrics {
		if r.answer.Question.IsPrimary(m.Name) {
			subjects = append(subjects, m.Name)
		}
	}
	return subjects
}

// dots show every run of every arm, with their center and its interval.
func dots(_ *Record, under *scenario, subject string) (document.Chart, bool) {
	m, in := metric.Parse(subject), under.display(subject)
	var rows []chart.Sample
	alt := fmt.Sprintf("Every valid run of each arm: %s%s. ", m.Under(under.Name), inUnit(in.unit))
	for _, arm := range under.arms {
		found := under.at(subject, arm.Name)
		if found == nil {
			continue
		}
		found = found.scaledTo(in)
		low, high := found.displayedInterval()
		rows = append(rows, chart.Sample{
			Series: arm.series(), Values: found.numbers, Center: found.center(), Low: low, High: high,
			Label: found.scale.CenterWord() + " " + found.textWithUnit(),
		})
		alt += fmt.Sprintf("%s: %s from %s to %s, %s %s. ", arm.Name, prose.Counted(len(found.numbers), "run"), digits.Fixed(slices.Min(found.numbers), found.places), digits.Fixed(found.peak(), found.places), found.scale.CenterWord(), found.text())
	}
	return document.Chart{Title: "Every run: " + m.Phrase(), Alt: alt, SVG: chart.Dots(rows, unitLabel(in.unit))}, true
}
