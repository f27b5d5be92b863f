// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	g "maragu.dev/gomponents"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/view/progress"
)

// maxRuns limits the list of finished runs to the newest.
const maxRuns = 12

// page is the content of the live page, as plain text.
type page struct {
	Name, Title, Subtitle string
	// Headline is announced to screen readers; it changes only with the state.
	Headline string
	Notices  []notice
	Phase    string
	Progress *counts
	// ExpectedEnd is zero if it is unknown.
	ExpectedEnd time.Time
	Message     string
	// Verdict is the operator's summary of the results.
	Verdict  string
	Problems []problem
	Run      *currentRun
	// Card is the summary so far; SummaryError is why there is none.
	Card         g.Node
	SummaryError string
	// Searches for capacities.
	Searches []progress.Search
	Runs     []finishedRun
	// OmittedRuns counts the finished runs that are not listed.
	OmittedRuns int
	LastChange  time.Time
}

// notice warns that the page may be out of date.
type notice struct{ Title, Text string }

type problem struct{ Condition, Message string }

type counts struct {
	Done, Planned, Invalid int32
	Block, Blocks          int32
}

// currentRun describes the current run.
type currentRun struct {
	Name, Arm, Scenario, Activity string
	Block, Attempt                int32
	Steps                         []step
	Loads                         []loadRow
	// Records means that some load reports how many records it imported.
	Records bool
	Charts  []chart
}

// step of a run.
type step struct {
	Name    string
	Done    bool
	Current bool
}

// loadRow is the current state of a load.
type loadRow struct {
	Name, State, Users, Requests, Errors, Records string
	P95                                           []string
	LastReport                                    time.Time
}

type finishedRun struct {
	position      int32
	Arm, Scenario string
	Block         int32
	Valid         bool
	Invalid, Took string
	Ended         time.Time
}

// newPage builds the page of a snapshot. The caller adds title, subtitle and summary of the
// report.
func newPage(s Snapshot, now time.Time) page {
	if s.Experiment == nil {
		return page{Title: "Loading the experiment", Headline: "The experiment is not loaded yet.", Notices: notices(s), LastChange: s.LastChange}
	}
	experiment := s.Experiment
	status := &experiment.Status
	shown := page{
		Name: experiment.Namespace + "/" + experiment.Name, Title: experiment.Name, Notices: notices(s), Phase: progress.Phase(experiment),
		Progress: newCounts(s), Message: prose.Sentence(progress.WaitMessage(status)), Verdict: status.Verdict, LastChange: s.LastChange,
	}
	shown.Headline = headline(shown)
	for _, condition := range progress.Problems(status) {
		shown.Problems = append(shown.Problems, problem{condition.Type, condition.Message})
	}
	shown.Searches = progress.Searches(experiment, s.Runs)
	shown.Runs, shown.OmittedRuns = newestRuns(s.Runs)
	if progress.IsFinished(experiment) || provenance.IsImported(experiment) {
		return shown
	}
	if left, known := progress.Remaining(experiment, s.Runs, now); known && !s.Deleted {
		shown.ExpectedEnd = now.Add(left).Truncate(time.Minute)
	}
	shown.Run = newCurrentRun(s)
	return shown
}

func notices(s Snapshot) []notice {
	var found []notice
	if s.Deleted {
		found = append(found, notice{"The experiment was deleted.", "This page shows its last state."})
	}
	if s.Outage != nil {
		found = append(found, notice{
			"The cluster has been unavailable since " + clock(s.Outage.Since, s.Outage.Since) + ".",
			"This page shows the state before that; the experiment may continue. " + s.Outage.Reason,
		})
	}
	return found
}

// headline is the sentence that screen readers announce.
func headline(p page) string {
	text := p.Phase
	if p.Progress != nil {
		text += fmt.Sprintf(", %s done", prose.Partly(p.Progress.Done, p.Progress.Planned, "run"))
		if p.Progress.Invalid > 0 {
			text += ", " + prose.Counted(p.Progress.Invalid, "invalid attempt")
		}
	}
	return text + "."
}

func newCounts(s Snapshot) *counts {
	runs := s.Experiment.Status.Runs
	if runs == nil {
		return nil
	}
	return &counts{runs.Done, runs.Planned, runs.Invalid, currentBlock(s), s.Experiment.Spec.DesignOrDefault().Blocks}
}

// currentBlock is the block of the current run, else of the last run.
func currentBlock(s Snapshot) int32 {
	if run := progress.CurrentRun(s.Experiment, s.Runs); run != nil {
		return run.Spec.Block
	}
	block := int32(0)
	for i := range s.Runs {
		block = max(block, s.Runs[i].Spec.Block)
	}
	return block
}

// phases of a run, in their order.
var phases = []v1alpha1.RunPhase{v1alpha1.RunPending, v1alpha1.RunProvisioning, v1alpha1.RunLoading, v1alpha1.RunCollecting}

func newCurrentRun(s Snapshot) *currentRun {
	status := s.Experiment.Status.Current
	if status == nil {
		return nil
	}
	shown := &currentRun{Name: status.Run, Activity: progress.Activity(status)}
	phase := cmp.Or(status.Phase, v1alpha1.RunPending)
	at := slices.Index(phases, phase)
	for i, one := range phases {
		shown.Steps = append(shown.Steps, step{string(one), at < 0 || i < at, i == at})
	}
	run := progress.CurrentRun(s.Experiment, s.Runs)
	if run == nil {
		return shown
	}
	shown.Arm, shown.Scenario, shown.Block, shown.Attempt = run.Spec.Arm, run.Spec.Scenario.Name, run.Spec.Block, run.Spec.Attempt
	for _, load := range run.Spec.Scenario.Loads {
		row := newLoadRow(load.Name, run.Status.Loads)
		shown.Records = shown.Records || row.Records != ""
		shown.Loads = append(shown.Loads, row)
	}
	shown.Charts = newCharts(s.Loads)
	if slices.ContainsFunc(shown.Loads, func(row loadRow) bool { return !row.LastReport.IsZero() }) {
		// The table of loads has the same information and more.
		shown.Activity = ""
	}
	return shown
}

func newLoadRow(name string, loads []v1alpha1.LoadStatus) loadRow {
	row := loadRow{Name: name, State: "waiting"}
	at := slices.IndexFunc(loads, func(load v1alpha1.LoadStatus) bool { return load.Name == name })
	if at < 0 {
		return row
	}
	load := loads[at]
	row.State = loadState(load)
	reported := load.Progress
	if reported == nil {
		return row
	}
	row.Users, row.Requests, row.Errors, row.LastReport = fmt.Sprint(reported.Users), reported.RequestsPerSecond, reported.ErrorPercent+" %", reported.Time.Time
	for _, p95 := range reported.P95 {
		row.P95 = append(row.P95, p95.Transaction+" "+p95.Milliseconds+" ms")
	}
	if reported.Records != nil {
		row.Records = fmt.Sprint(*reported.Records)
	}
	return row
}

func loadState(load v1alpha1.LoadStatus) string {
	switch {
	case load.Outcome != "":
		return strings.ToLower(string(load.Outcome))
	case load.StopTime != nil:
		return "stopping"
	case load.StartTime != nil:
		return "running since " + clock(load.StartTime.Time, load.StartTime.Time)
	case load.CreateTime != nil:
		return "starting"
	}
	return "waiting"
}

// newestRuns returns the newest finished runs, newest first, and how many are omitted.
func newestRuns(runs []v1alpha1.PerfRun) ([]finishedRun, int) {
	var shown []finishedRun
	for i := range runs {
		run := &runs[i]
		if !run.Status.Phase.IsFinal() {
			continue
		}
		ended := finishedRun{position: run.Spec.Position, Arm: run.Spec.Arm, Scenario: run.Spec.Scenario.Name, Block: run.Spec.Block, Valid: run.Status.Phase == v1alpha1.RunSucceeded}
		if !ended.Valid {
			ended.Invalid = run.Status.Message
		}
		ended.Ended, ended.Took = runDuration(run.Status.Timings.ProvisionStart, run.Status.Timings.Finish)
		shown = append(shown, ended)
	}
	slices.SortStableFunc(shown, func(a, b finishedRun) int {
		return cmp.Or(b.Ended.Compare(a.Ended), cmp.Compare(b.position, a.position))
	})
	listed := min(len(shown), maxRuns)
	return shown[:listed], len(shown) - listed
}

func runDuration(from, to *metav1.Time) (end time.Time, took string) {
	if to == nil {
		return time.Time{}, ""
	}
	if from != nil {
		took = prose.Duration(to.Sub(from.Time).Round(time.Second))
	}
	return to.Time, took
}

// clock formats a time, with its date unless that is today.
func clock(at, now time.Time) string {
	if !isSameDay(at, now) {
		return minute(at, now)
	}
	return at.UTC().Format("15:04:05 UTC")
}

// minute formats a time like clock, without seconds.
func minute(at, now time.Time) string {
	if !isSameDay(at, now) {
		return at.UTC().Format("2 January 15:04 UTC")
	}
	return at.UTC().Format("15:04 UTC")
}

func isSameDay(a, b time.Time) bool {
	return a.UTC().Format(time.DateOnly) == b.UTC().Format(time.DateOnly)
}
