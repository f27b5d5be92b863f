// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"strings"

	"perflab.dev/perflab/internal/inference/comparison"
)

// CSV has a row per valid run and metric, as perflab analyze reads it: all
// digits that were recorded, in the order of the plan.
func (r *Report) CSV() ([]byte, error) {
	var out bytes.Buffer
	writer := csv.NewWriter(&out)
	rows := [][]string{strings.Split(comparison.Header, ",")}
	for _, run := range r.record.journal.valid() {
		arm := comparison.Cell(r.record.labels.nameOf(run.Spec.Arm))
		for _, observation := range cmp.Or(r.record.Traces[run.Name], noTrace).observationsOf(run) {
			rows = append(rows, []string{
				whole(run.Spec.Block), arm, comparison.Cell(run.Spec.Scenario.Name), comparison.Cell(observation.Metric),
				comparison.Cell(observation.Unit), comparison.Cell(observation.Value),
			})
		}
	}
	if err := writer.WriteAll(rows); err != nil {
		return nil, fmt.Errorf("writing the observations: %w", err)
	}
	return out.Bytes(), nil
}

// Charts are the report's own pictures as SVG files, by name, for the formats that
// can't hold them.
func (r *Report) Charts() map[string][]byte {
	files := map[string][]byte{}
	for one := range r.page.charts() {
		files[one.Name+".svg"] = one.SVG.file(one.Title, one.Alt)
	}
	return files
}
