// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"strings"

	"perflab.dev/perflab/internal/inference/comparison"
	"perflab.dev/perflab/internal/text/digits"
)

// Observations have a row per valid run and metric, as perflab analyze reads them: all
// digits that were recorded, in the order of the plan.
func (r *Record) Observations() [][]string {
	rows := [][]string{strings.Split(comparison.Header, ",")}
	for _, run := range r.journal.valid() {
		arm := comparison.Cell(r.labels.armName(run.Spec.Arm))
		for _, observation := range cmp.Or(r.Traces[run.Name], emptyTrace).allObservations(run) {
			rows = append(rows, []string{
				digits.Count(run.Spec.Block), arm, comparison.Cell(run.Spec.Scenario.Name), comparison.Cell(observation.Metric),
				comparison.Cell(observation.Unit), comparison.Cell(observation.Value),
			})
		}
	}
	return rows
}
