// SPDX-License-Identifier: Apache-2.0

package section

import (
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/report/document"
	"perflab.dev/perflab/internal/text/digits"
)

// testRuns is the lab journal.
func testRuns(r *Record) []document.Block {
	if len(r.journal) == 0 {
		return append([]document.Block{document.Paragraph("No run has started.")}, markTable(r)...)
	}
	result := &document.Table{
		Caption: "All attempts, in planned order (UTC)",
		Columns: slices.Concat(document.NumberColumns("#", "Block"), document.TextColumns("Scenario", "Arm"), document.NumberColumns("Attempt"), document.TextColumns("Load start"), document.NumberColumns("Load, hh:mm:ss", "Transactions"), document.TextColumns("Status")),
	}
	for i, run := range r.journal {
		result.Rows = append(result.Rows, document.Row{First: i == 0 || run.Spec.Block != r.journal[i-1].Spec.Block, Cells: []document.Cell{
			{Text: digits.Count(run.Spec.Position)},
			{Text: digits.Count(run.Spec.Block)},
			nameCell(run.Spec.Scenario.Name), armCell(run.Spec.Arm),
			{Text: digits.Count(run.Spec.Attempt)},
			{Text: digits.Time(timeValue(run.Status.Timings.LoadStart))},
			{Text: loadTime(run)},
			{Text: transactionCount(run)},
			statusCell(run),
		}})
	}
	// A few rows show the course of the experiment; more are only a record.
	const handful = 24
	result.Folded = len(result.Rows) > handful
	return slices.Concat(result.Blocks(), restartTable(r), markTable(r))
}

func loadTime(run *v1alpha1.PerfRun) string {
	start, end := run.Status.Timings.LoadStart, run.Status.Timings.LoadFinish
	if start == nil || end == nil {
		return digits.Dash
	}
	return digits.Clock(end.Sub(start.Time))
}

// transactionCount is the number of transactions of all loads, within the measured time.
func transactionCount(run *v1alpha1.PerfRun) string {
	total, known := int64(0), false
	for _, observation := range run.Status.Observations {
		m := metric.Parse(observation.Metric)
		if m.IsTransaction() && m.Statistic == metric.Errors && m.Window == "" {
			total += observation.Samples
			known = true
		}
	}
	if !known {
		return digits.Dash
	}
	return digits.Count(total)
}

func statusCell(run *v1alpha1.PerfRun) document.Cell {
	switch run.Status.Phase {
	case v1alpha1.RunSucceeded:
		return document.Cell{Text: "Valid"}
	case v1alpha1.RunInvalid:
		return document.Cell{Text: "Invalid: " + invalidReason(run), Status: invalidRun}
	case "":
		return document.Cell{Text: string(v1alpha1.RunPending)}
	default:
		return document.Cell{Text: string(run.Status.Phase)}
	}
}
