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
	"perflab.dev/perflab/internal/text/redact"
)

// validity lists invalid attempts and omitted parts, with the reasons.
func validity(r *Record) []document.Block {
	if r.measuredElsewhere() {
		return []document.Block{document.Paragraph(r.elsewhereValidity())}
	}
	blocks := []document.Block{{List: document.Items(rules(&r.Experiment.Spec.Validity, r.journal))}}
	result := &document.Table{
		Caption: "Attempts that did not count", Note: "Invalid attempts are repeated and never averaged in.",
		Columns: document.TextColumns("Run", "Scenario", "Arm", "Block", "Reason", "What happened"),
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
		Caption: "Runs that were deleted", Note: "What they measured is in no figure.",
		Columns: append(document.NumberColumns("Position", "Attempt"), document.TextColumns("Why")...),
	}
	for _, one := range r.deleted() {
		result.Rows = append(result.Rows, document.Row{Cells: []document.Cell{{Text: digits.Count(one.Position)}, {Text: digits.Count(one.Attempt)}, {Text: cmp.Or(one.Reason, "no reason given")}}})
	}
	return result.Blocks()
}

// leftOutTable lists the omitted parts of valid runs.
func leftOutTable(r *Record) []document.Block {
	result := &document.Table{
		Caption: "Parts of runs that did not count", Note: "The rest of these runs was sound, and counts.",
		Columns: document.TextColumns("Run", "Scenario", "Arm", "Block", "What happened"),
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
		Caption: "What these attempts had measured", Note: "Until they ended; none of it is in any other figure.",
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
		result.Note += fmt.Sprintf(" The first %d are listed; %s.", maxSalvaged, document.LeftOut(left, "figure"))
	}
	return result.Blocks()
}

// rules are the conditions for a valid run.
func rules(limits *v1alpha1.Validity, runs journal) []string {
	sentences := []string{"A run counts if every load ended as planned, every runner left its results, and at most " + percent(float64(limits.MaxErrorPercentOrDefault())) + " of each load's transactions failed."}
	if runs.judgesRequests() {
		sentences = append(sentences, "Of a script's requests at most "+percent(float64(limits.MaxFailedRequestsPercentOrDefault()))+
			" may have failed, and of its checks at most "+percent(float64(limits.MaxFailedChecksPercentOrDefault()))+".")
	}
	sentences = append(sentences,
		restartsAllowed(limits.MaxRestartsOrDefault())+" under load, and "+importsAllowed(limits.MaxFailedImportsOrDefault())+".",
		"The running system must be the declared one: heap, partitions, metadata mode and replicas are read back from it.",
		gapsAllowed(limits.MaxGapPercentOrDefault()))
	if runs.hasNodeData() {
		sentences = append(sentences, "Where the collector's node, with pods of the run on it, was full, at most "+
			percent(float64(limits.MaxOtherCPUPercentOrDefault()))+" of its CPUs may have been used by what was not the run's.")
	}
	if limits.LeavesOutUnsound() {
		sentences = append(sentences, "Each load, and each window of it beside imports, counts if it is sound by itself; what is not is left out, and listed.")
	}
	if limits.MaxAttempts > 0 {
		sentences = append(sentences, "A run is tried at most "+timesText(limits.MaxAttempts)+".")
	}
	return sentences
}

func importsAllowed(failed int32) string {
	if failed == 0 {
		return "an import must have brought in every record"
	}
	return "of a load's imports all but " + digits.Count(failed) + " must have brought in every record"
}

func gapsAllowed(share int32) string {
	if share == 0 {
		return "Servers must have been sampled throughout, but for three intervals at a time."
	}
	return "Gaps of over three intervals in what was sampled of the servers may have taken at most " + percent(float64(share)) + " of the time that counts."
}

func restartsAllowed(limit int32) string {
	if limit == 0 {
		return "No container of a module may have restarted"
	}
	return "Modules' containers may have restarted at most " + timesText(limit)
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
