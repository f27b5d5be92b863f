// SPDX-License-Identifier: Apache-2.0

package section

import (
	"cmp"
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	"perflab.dev/perflab/internal/report/document"
	runfilter "perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/text/digits"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/text/redact"
)

// validity lists invalid attempts and omitted parts, with the reasons.
func validity(r *Record) []document.Block {
	if r.measuredElsewhere() {
		return []document.Block{document.Paragraph(r.elsewhereValidity())}
	}
	blocks := []document.Block{{List: document.Items(rules(&r.Experiment.Spec.Validity, r.journal))}}
	result := &document.Table{
		Caption: "Invalid attempts", Note: "Invalid attempts are repeated and excluded from all averages.",
		Columns: document.TextColumns("Run", "Scenario", "Arm", "Block", "Reason", "Details"),
	}
	blocks = append(blocks, leftOutTable(r)...)
	for _, run := range r.journal.invalid() {
		result.Rows = append(result.Rows, document.Row{Cells: []document.Cell{
			nameCell(run.Name), nameCell(run.Spec.Scenario.Name), armCell(run.Spec.Arm),
			{Text: digits.Count(run.Spec.Block)},
			{Text: invalidReason(run), Status: invalidRun},
			{Text: redact.Hide("", run.Status.Message)},
		}})
	}
	blocks = append(blocks, deletedRuns(r)...)
	if len(result.Rows) == 0 {
		return append(blocks, document.Paragraph("No attempt was invalid."))
	}
	return slices.Concat(blocks, result.Blocks(), salvagedTable(r))
}

// deleted are the attempts that no longer exist.
func (r *Record) deleted() []runfilter.Deleted {
	return runfilter.FindDeleted(&r.Experiment, r.Runs)
}

// deletedRuns lists the attempts that were deleted.
func deletedRuns(r *Record) []document.Block {
	result := &document.Table{
		Caption: "Deleted runs", Note: "Their measurements are excluded from all results.",
		Columns: append(document.NumberColumns("Position", "Attempt"), document.TextColumns("Reason")...),
	}
	for _, one := range r.deleted() {
		result.Rows = append(result.Rows, document.Row{Cells: []document.Cell{{Text: digits.Count(one.Position)}, {Text: digits.Count(one.Attempt)}, {Text: cmp.Or(one.Reason, "no reason given")}}})
	}
	return result.Blocks()
}

// leftOutTable lists the omitted parts of valid runs.
func leftOutTable(r *Record) []document.Block {
	result := &document.Table{
		Caption: "Excluded parts of valid runs", Note: "The rest of these runs is valid.",
		Columns: document.TextColumns("Run", "Scenario", "Arm", "Block", "Details"),
	}
	for _, run := range r.journal.valid() {
		for _, part := range run.Status.LeftOut {
			result.Rows = append(result.Rows, document.Row{Cells: []document.Cell{
				nameCell(run.Name), nameCell(run.Spec.Scenario.Name), armCell(run.Spec.Arm),
				{Text: digits.Count(run.Spec.Block)},
				{Text: capitalize(redact.Hide("", results.DescribeLeftOut(part)))},
			}})
		}
	}
	return result.Blocks()
}

// maxSalvaged is the maximum number of rows with measurements of invalid attempts.
const maxSalvaged = 60

// salvagedTable has the measurements of invalid attempts, for deciding metrics and single
// imports. Hours of load are informative, though not comparable.
func salvagedTable(r *Record) []document.Block {
	result := &document.Table{
		Caption: "Measurements of invalid attempts", Note: "Until the attempts ended; they are excluded from all other results.",
		Columns: append(document.TextColumns("Run", "Metric", "Value"), document.NumberColumns("Samples")...),
	}
	left := 0
	for _, run := range r.journal.invalid() {
		first := true
		for _, observation := range run.Status.Observations {
			if !slices.Contains(r.answer.Question.Primary, observation.Metric) && metric.Parse(observation.Metric).Part == 0 {
				continue
			}
			if len(result.Rows) == maxSalvaged {
				left++
				continue
			}
			result.Rows = append(result.Rows, document.Row{First: first, Cells: []document.Cell{
				nameCell(run.Name), nameCell(observation.Metric), {Text: withUnit(observation.Value, observation.Unit)}, {Text: digits.Count(observation.Samples)},
			}})
			first = false
		}
	}
	if left > 0 {
		result.Note += fmt.Sprintf(" The first %d are listed; %s.", maxSalvaged, document.LeftOut(left, "measurement"))
	}
	return result.Blocks()
}

// rules are the conditions for a valid run.
func rules(limits *v1alpha1.Validity, runs journal) []string {
	sentences := []string{"A run is valid if every load ended as planned, every runner delivered its results, and at most " + percent(float64(limits.MaxErrorPercentOrDefault())) + " of each load's transactions failed."}
	if runs.judgesRequests() {
		sentences = append(sentences, "At most "+percent(float64(limits.MaxFailedRequestsPercentOrDefault()))+
			" of a script's requests and "+percent(float64(limits.MaxFailedChecksPercentOrDefault()))+" of its checks may have failed.")
	}
	sentences = append(sentences,
		restartsAllowed(limits.MaxRestartsOrDefault())+" under load, and "+importsAllowed(limits.MaxFailedImportsOrDefault())+".",
		"The running system must match the declared one: heap, partitions, metadata mode and replicas are read back from it.",
		gapsAllowed(limits.MaxGapPercentOrDefault()))
	if runs.hasNodeData() {
		sentences = append(sentences, "If the collector's node was full and hosted pods of the run, at most "+
			percent(float64(limits.MaxOtherCPUPercentOrDefault()))+" of its CPUs may have been used by other workloads.")
	}
	if limits.LeavesOutUnsound() {
		sentences = append(sentences, "Each load, and each of its windows around imports, is checked separately; invalid parts are excluded and listed.")
	}
	if limits.MaxAttempts > 0 {
		sentences = append(sentences, "A run has at most "+prose.Counted(limits.MaxAttempts, "attempt")+".")
	}
	return sentences
}

func importsAllowed(failed int32) string {
	if failed == 0 {
		return "each import must have imported every record"
	}
	return "all but " + digits.Count(failed) + " of a load's imports must have imported every record"
}

func gapsAllowed(share int32) string {
	if share == 0 {
		return "Servers must have been sampled throughout, with gaps of at most three intervals."
	}
	return "Gaps of over three intervals in the server samples may cover at most " + percent(float64(share)) + " of the measured time."
}

func restartsAllowed(limit int32) string {
	if limit == 0 {
		return "No module container may have restarted"
	}
	return "Module containers may have restarted at most " + timesText(limit)
}

// hasNodeData reports whether the collectors reported their nodes.
func (j journal) hasNodeData() bool {
	return slices.ContainsFunc(j, func(run *v1alpha1.PerfRun) bool {
		return run.Status.Servers != nil && run.Status.Servers.Node != ""
	})
}

// judgesRequests reports whether a script's requests were counted. Older runs were not checked by
// that rule.
func (j journal) judgesRequests() bool {
	return slices.ContainsFunc(j, func(run *v1alpha1.PerfRun) bool {
		return slices.ContainsFunc(run.Spec.Scenario.Loads, func(load v1alpha1.Load) bool {
			return kinds.ForLoad(load).JudgesRequests() && slices.ContainsFunc(run.Status.Loads, func(status v1alpha1.LoadStatus) bool {
				return status.Name == load.Name && status.Requests != nil
			})
		})
	})
}
