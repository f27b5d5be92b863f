// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/prose"
	"perflab.dev/perflab/internal/secret"
)

// testRuns is the lab journal.
func testRuns(r *record) section {
	made := section{ID: "test-runs", Title: "Test Runs"}
	if len(r.journal) == 0 {
		made.Blocks = append(made.Blocks, paragraph("No run has begun."))
		return made
	}
	journal := &table{
		Caption: "Every attempt, in the order of the plan; times are UTC",
		Columns: slices.Concat(numbers("#", "Block"), words("Scenario", "Arm"), numbers("Attempt"), words("Load began"), numbers("Load, hh:mm:ss", "Transactions"), words("Status")),
	}
	for i, run := range r.journal {
		journal.Rows = append(journal.Rows, row{
			First: i == 0 || run.Spec.Block != r.journal[i-1].Spec.Block,
			Cells: []cell{
				{Text: whole(run.Spec.Position)},
				{Text: whole(run.Spec.Block)},
				name(run.Spec.Scenario.Name), name(run.Spec.Arm),
				{Text: whole(run.Spec.Attempt)},
				{Text: moment(timeOf(run.Status.Timings.LoadStart))},
				{Text: loadTime(run)},
				{Text: transactions(run)},
				statusOf(run),
			},
		})
	}
	made.Blocks = append(made.Blocks, block{Table: journal})
	return made
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

// invalidRun is shown as verdicts are.
const invalidRun = "Invalid"

// reasonOf an invalid run, in one word where its conditions have one.
func reasonOf(run *v1alpha1.PerfRun) string {
	if found := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); found != nil && found.Status == metav1.ConditionFalse {
		return found.Reason
	}
	return "see Validity"
}

// validity lists what did not count, and why.
func validity(r *record) section {
	made := section{ID: "validity", Title: "Validity and invalid runs"}
	made.Blocks = append(made.Blocks, block{List: r.rules()})
	invalid := &table{Caption: "Attempts that did not count", Columns: words("Run", "Scenario", "Arm", "Block", "Reason", "What happened")}
	for _, run := range r.journal {
		if run.Status.Phase == v1alpha1.RunInvalid {
			invalid.Rows = append(invalid.Rows, row{Cells: []cell{
				name(run.Name), name(run.Spec.Scenario.Name), name(run.Spec.Arm),
				{Text: whole(run.Spec.Block)},
				{Text: reasonOf(run), Verdict: invalidRun},
				{Text: secret.Hide("", run.Status.Message)},
			}})
		}
	}
	if len(invalid.Rows) == 0 {
		made.Blocks = append(made.Blocks, paragraph("Every attempt counted."))
		return made
	}
	invalid.Note = "Invalid attempts are repeated and never averaged in."
	made.Blocks = append(made.Blocks, block{Table: invalid})
	return made
}

// rules are what a run had to keep to count.
func (r *record) rules() []item {
	limits := r.Experiment.Spec.Validity
	items := []item{
		{Text: "A run counts if every load ended as planned, every runner left its results, and at most " + withUnit(whole(limits.MaxErrorPercentOrDefault()), metric.UnitPercent) + " of each load's transactions failed."},
	}
	if r.judgesRequests() {
		items = append(items, item{Text: "Of a script's requests at most " + withUnit(whole(limits.MaxFailedRequestsPercentOrDefault()), metric.UnitPercent) +
			" may have failed, and of its checks at most " + withUnit(whole(limits.MaxFailedChecksPercentOrDefault()), metric.UnitPercent) + "."})
	}
	items = append(items,
		item{Text: restartsAllowed(limits.MaxRestartsOrDefault()) + " while load was on, and an import must have brought in every record."},
		item{Text: "What ran must be what was declared: heap, partitions, metadata mode and replicas are read back from the running system."},
	)
	if r.sawNodes() {
		items = append(items, item{Text: "Where the collector's node, with pods of the run on it, was full, at most " +
			withUnit(whole(limits.MaxOtherCPUPercentOrDefault()), metric.UnitPercent) + " of its CPUs may have been used by what was not the run's."})
	}
	if limits.MaxAttempts > 0 {
		items = append(items, item{Text: "A run is tried at most " + times(limits.MaxAttempts) + "."})
	}
	return items
}

// sawNodes: the collectors told of the nodes they ran on.
func (r *record) sawNodes() bool {
	return slices.ContainsFunc(r.journal, func(run *v1alpha1.PerfRun) bool {
		return run.Status.Servers != nil && run.Status.Servers.Node != ""
	})
}

// judgesRequests: a script's requests were counted. Of runs that are older than
// the rule it would be a false promise.
func (r *record) judgesRequests() bool {
	return slices.ContainsFunc(r.journal, func(run *v1alpha1.PerfRun) bool {
		return slices.ContainsFunc(run.Spec.Scenario.Loads, func(load v1alpha1.Load) bool {
			return kinds.Of(load).JudgesRequests() && slices.ContainsFunc(run.Status.Loads, func(status v1alpha1.LoadStatus) bool {
				return status.Name == load.Name && status.Requests != nil
			})
		})
	})
}

func restartsAllowed(most int32) string {
	if most == 0 {
		return "No container of a module may have restarted"
	}
	return "Modules' containers may have restarted at most " + times(most)
}

func times(number int32) string { return prose.Counted(number, "time") }

// span of the experiment, from its first load to its last.
func (r *record) span() (first, last time.Time) {
	for _, run := range r.journal {
		if start := timeOf(run.Status.Timings.LoadStart); !start.IsZero() && (first.IsZero() || start.Before(first)) {
			first = start
		}
		if end := timeOf(run.Status.Timings.LoadFinish); end.After(last) {
			last = end
		}
	}
	return first, last
}
