// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"strings"

	"perflab.dev/perflab/internal/inference/comparison"
)

// observations have a row per valid run and metric, as perflab analyze reads them: all
// digits that were recorded, in the order of the plan.
func (r *record) observations() [][]string {
	rows := [][]string{strings.Split(comparison.Header, ",")}
	for _, run := range r.journal.valid() {
		arm := comparison.Cell(r.labels.nameOf(run.Spec.Arm))
		for _, observation := range cmp.Or(r.Traces[run.Name], noTrace).observationsOf(run) {
			rows = append(rows, []string{
				whole(run.Spec.Block), arm, comparison.Cell(run.Spec.Scenario.Name), comparison.Cell(observation.Metric),
				comparison.Cell(observation.Unit), comparison.Cell(observation.Value),
			})
		}
	}
	return rows
}
