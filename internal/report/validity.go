// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/measure/results"
	runfilter "perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/text/redact"
)

// validity lists what did not count, and why.
func validity(r *record) []block {
	if r.isElsewhere() {
		return []block{paragraph(r.elsewhereValidity())}
	}
	blocks := []block{{List: listOf(rules(&r.Experiment.Spec.Validity, r.journal))}}
	result := &table{
		Caption: "Attempts that did not count", Note: "Invalid attempts are repeated and never averaged in.",
		Columns: words("Run", "Scenario", "Arm", "Block", "Reason", "What happened"),
	}
	blocks = append(blocks, leftOutTable(r)...)
	for _, run := range r.journal.invalid() {
		result.Rows = append(result.Rows, row{Cells: []cell{
			name(run.Name), name(run.Spec.Scenario.Name), ofArm(run.Spec.Arm),
			{Text: whole(run.Spec.Block)},
			{Text: reasonOf(run), Verdict: invalidRun},
			{Text: redact.Hide("", run.Status.Message)},
		}})
	}
	blocks = append(blocks, deletedRuns(r)...)
	if len(result.Rows) == 0 {
		return append(blocks, paragraph("No attempt was invalid."))
	}
	return slices.Concat(blocks, result.blocks(), salvagedTable(r))
}

// deleted are the attempts that were made and are not there any more.
func (r *record) deleted() []runfilter.Deleted {
	return runfilter.FindDeleted(&r.Experiment, r.Runs)
}

// deletedRuns lists the attempts that were deleted.
func deletedRuns(r *record) []block {
	result := &table{
		Caption: "Runs that were deleted", Note: "What they measured is in no figure.",
		Columns: append(numbers("Position", "Attempt"), words("Why")...),
	}
	for _, one := range r.deleted() {
		result.Rows = append(result.Rows, row{Cells: []cell{{Text: whole(one.Position)}, {Text: whole(one.Attempt)}, {Text: cmp.Or(one.Reason, "no reason given")}}})
	}
	return result.blocks()
}

// leftOutTable lists what does not count of runs that do.
func leftOutTable(r *record) []block {
	result := &table{
		Caption: "Parts of runs that did not count", Note: "The rest of these runs was sound, and counts.",
		Columns: words("Run", "Scenario", "Arm", "Block", "What happened"),
	}
	for _, run := range r.journal.valid() {
		for _, warning := range run.Status.Warnings {
			if what, is := results.CutLeftOut(warning); is {
				result.Rows = append(result.Rows, row{Cells: []cell{
					name(run.Name), name(run.Spec.Scenario.Name), ofArm(run.Spec.Arm),
					{Text: whole(run.Spec.Block)},
					{Text: capital(redact.Hide("", what))},
				}})
			}
		}
	}
	return result.blocks()
}

// maxSalvaged rows of what attempts measured that did not count.
const maxSalvaged = 60

// salvagedTable is what attempts that did not count had measured until then, of what decides and of
// single imports. Hours of load tell something, though nobody may compare them.
func salvagedTable(r *record) []block {
	result := &table{
		Caption: "What these attempts had measured", Note: "Until they ended; none of it is in any other figure.",
		Columns: append(words("Run", "Metric", "Value"), numbers("Samples")...),
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
			result.Rows = append(result.Rows, row{First: first, Cells: []cell{
				name(run.Name), name(observation.Metric), {Text: withUnit(observation.Value, observation.Unit)}, {Text: whole(observation.Samples)},
			}})
			first = false
		}
	}
	if left > 0 {
		result.Note += fmt.Sprintf(" The first %d are listed; %s.", maxSalvaged, leftOut(left, "figure"))
	}
	return result.blocks()
}

// rules are what a run had to keep to count.
func rules(limits *v1alpha1.Validity, runs journal) []string {
	sentences := []string{"A run counts if every load ended as planned, every runner left its results, and at most " + percent(float64(limits.MaxErrorPercentOrDefault())) + " of each load's transactions failed."}
	if runs.judgeRequests() {
		sentences = append(sentences, "Of a script's requests at most "+percent(float64(limits.MaxFailedRequestsPercentOrDefault()))+
			" may have failed, and of its checks at most "+percent(float64(limits.MaxFailedChecksPercentOrDefault()))+".")
	}
	sentences = append(sentences,
		restartsAllowed(limits.MaxRestartsOrDefault())+" under load, and "+importsAllowed(limits.MaxFailedImportsOrDefault())+".",
		"The running system must be the declared one: heap, partitions, metadata mode and replicas are read back from it.",
		gapsAllowed(limits.MaxGapPercentOrDefault()))
	if runs.sawNodes() {
		sentences = append(sentences, "Where the collector's node, with pods of the run on it, was full, at most "+
			percent(float64(limits.MaxOtherCPUPercentOrDefault()))+" of its CPUs may have been used by what was not the run's.")
	}
	if limits.LeavesOutUnsound() {
		sentences = append(sentences, "Each load, and each window of it beside imports, counts if it is sound by itself; what is not is left out, and listed.")
	}
	if limits.MaxAttempts > 0 {
		sentences = append(sentences, "A run is tried at most "+times(limits.MaxAttempts)+".")
	}
	return sentences
}

func importsAllowed(failed int32) string {
	if failed == 0 {
		return "an import must have brought in every record"
	}
	return "of a load's imports all but " + whole(failed) + " must have brought in every record"
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
	return "Modules' containers may have restarted at most " + times(limit)
}

func times(number int32) string { return prose.Counted(number, "time") }

// sawNodes: the collectors told of the nodes they ran on.
func (j journal) sawNodes() bool {
	return slices.ContainsFunc(j, func(run *v1alpha1.PerfRun) bool {
		return run.Status.Servers != nil && run.Status.Servers.Node != ""
	})
}

// judgeRequests: a script's requests were counted. Of runs that are older than
// the rule it would be a false promise.
func (j journal) judgeRequests() bool {
	return slices.ContainsFunc(j, func(run *v1alpha1.PerfRun) bool {
		return slices.ContainsFunc(run.Spec.Scenario.Loads, func(load v1alpha1.Load) bool {
			return kinds.ForLoad(load).JudgesRequests() && slices.ContainsFunc(run.Status.Loads, func(status v1alpha1.LoadStatus) bool {
				return status.Name == load.Name && status.Requests != nil
			})
		})
	})
}
