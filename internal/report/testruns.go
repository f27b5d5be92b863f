// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/measure/metric"
)

// testRuns is the lab journal.
func testRuns(r *record) []block {
	if len(r.journal) == 0 {
		return append([]block{paragraph("No run has begun.")}, markTable(r)...)
	}
	result := &table{
		Caption: "Every attempt, in planned order (UTC)",
		Columns: slices.Concat(numbers("#", "Block"), words("Scenario", "Arm"), numbers("Attempt"), words("Load began"), numbers("Load, hh:mm:ss", "Transactions"), words("Status")),
	}
	for i, run := range r.journal {
		result.Rows = append(result.Rows, row{First: i == 0 || run.Spec.Block != r.journal[i-1].Spec.Block, Cells: []cell{
			{Text: whole(run.Spec.Position)},
			{Text: whole(run.Spec.Block)},
			name(run.Spec.Scenario.Name), ofArm(run.Spec.Arm),
			{Text: whole(run.Spec.Attempt)},
			{Text: moment(timeOf(run.Status.Timings.LoadStart))},
			{Text: loadTime(run)},
			{Text: transactions(run)},
			statusOf(run),
		}})
	}
	// A handful tells how it went; the rest is a record.
	const handful = 24
	result.Folded = len(result.Rows) > handful
	return slices.Concat(result.blocks(), restartTable(r), markTable(r))
}

func loadTime(run *v1alpha1.PerfRun) string {
	start, end := run.Status.Timings.LoadStart, run.Status.Timings.LoadFinish
	if start == nil || end == nil {
		return dash
	}
	return clock(end.Sub(start.Time))
}

// transactions are those of all loads, over what counts.
func transactions(run *v1alpha1.PerfRun) string {
	total, known := int64(0), false
	for _, observation := range run.Status.Observations {
		m := metric.Parse(observation.Metric)
		if m.IsTransaction() && m.Statistic == metric.Errors && m.Window == "" {
			total += observation.Samples
			known = true
		}
	}
	if !known {
		return dash
	}
	return whole(total)
}

func statusOf(run *v1alpha1.PerfRun) cell {
	switch run.Status.Phase {
	case v1alpha1.RunSucceeded:
		return cell{Text: "Valid"}
	case v1alpha1.RunInvalid:
		return cell{Text: "Invalid: " + reasonOf(run), Verdict: invalidRun}
	case "":
		return cell{Text: string(v1alpha1.RunPending)}
	default:
		return cell{Text: string(run.Status.Phase)}
	}
}

// reasonOf an invalid run, in one word where its conditions have one.
func reasonOf(run *v1alpha1.PerfRun) string {
	if found := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); found != nil && found.Status == metav1.ConditionFalse {
		return found.Reason
	}
	return "see Validity"
}
