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

// maxRuns are listed, the newest.
const maxRuns = 12

// page is what the living page says, in plain texts.
type page struct {
	Name, Title, Subtitle string
	// Headline is the state in a sentence that changes only when something is new.
	Headline string
	Notices  []notice
	Phase    string
	Progress *counts
	// Ends is when the experiment is expected to; zero: nobody knows.
	Ends  time.Time
	Waits string
	// Verdict sums up what came out, as the operator does.
	Verdict  string
	Troubles []trouble
	Run      *current
	// Card is the answer so far, Unanswered why there is none.
	Card       g.Node
	Unanswered string
	Runs       []pastRun
	// More runs than are listed.
	More int
	Seen time.Time
}

// notice stands above all: what is shown is not what is.
type notice struct{ Title, Text string }

type trouble struct{ What, Text string }

type counts struct {
	Done, Planned, Invalid int32
	Block, Blocks          int32
}

// current run.
type current struct {
	Name, Arm, Scenario, Doing string
	Block, Attempt             int32
	Steps                      []step
	Loads                      []loadRow
	// Records says that some load tells how many records it imported.
	Records bool
	Charts  []chart
}

// step of a run.
type step struct {
	Name    string
	Past    bool
	Current bool
}

// loadRow is what a load does now.
type loadRow struct {
	Name, State, Users, Requests, Errors, Records string
	P95                                           []string
	Told                                          time.Time
}

type pastRun struct {
	position      int32
	Arm, Scenario string
	Block         int32
	Valid         bool
	Invalid, Took string
	Ended         time.Time
}

// pageOf says what a sight shows at a time. Answer, title and subtitle are the
// report's.
func pageOf(s Sight, now time.Time) page {
	if s.Experiment == nil {
		return page{Title: "Looking for the experiment", Headline: "The experiment was not seen yet.", Notices: notices(s), Seen: s.Seen}
	}
	experiment := s.Experiment
	status := &experiment.Status
	shown := page{
		Name: experiment.Namespace + "/" + experiment.Name, Title: experiment.Name, Notices: notices(s), Phase: progress.Phase(experiment),
		Progress: countsOf(s), Waits: prose.Sentence(progress.Waits(status)), Verdict: status.Verdict, Seen: s.Seen,
	}
	shown.Headline = headline(shown)
	for _, condition := range progress.Troubles(status) {
		shown.Troubles = append(shown.Troubles, trouble{condition.Type, condition.Message})
	}
	shown.Runs, shown.More = pastRuns(s.Runs)
	if progress.IsOver(experiment) || provenance.IsImported(experiment) {
		return shown
	}
	if left, known := progress.Left(experiment, s.Runs, now); known && !s.Gone {
		shown.Ends = now.Add(left).Truncate(time.Minute)
	}
	shown.Run = currentOf(s)
	return shown
}

func notices(s Sight) []notice {
	var found []notice
	if s.Gone {
		found = append(found, notice{"The experiment was deleted.", "This is the last that was seen of it."})
	}
	if s.Lost != nil {
		found = append(found, notice{
			"The cluster does not answer since " + clock(s.Lost.Since, s.Lost.Since) + ".",
			"What is shown is how things were before; the experiment may go on meanwhile. " + s.Lost.Why,
		})
	}
	return found
}

// headline is what somebody who can't see the page is told when it changes.
func headline(p page) string {
	said := p.Phase
	if p.Progress != nil {
		said += fmt.Sprintf(", %s done", prose.Partly(p.Progress.Done, p.Progress.Planned, "run"))
		if p.Progress.Invalid > 0 {
			said += fmt.Sprintf(", %s not count", prose.Counted(p.Progress.Invalid, "attempt")+" did")
		}
	}
	return said + "."
}

func countsOf(s Sight) *counts {
	runs := s.Experiment.Status.Runs
	if runs == nil {
		return nil
	}
	return &counts{runs.Done, runs.Planned, runs.Invalid, blockOf(s), s.Experiment.Spec.DesignOrDefault().Blocks}
}

// blockOf is the one that is on: the current run's, else the last run's.
func blockOf(s Sight) int32 {
	if run := progress.Current(s.Experiment, s.Runs); run != nil {
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

func currentOf(s Sight) *current {
	status := s.Experiment.Status.Current
	if status == nil {
		return nil
	}
	shown := &current{Name: status.Run, Doing: progress.Doing(status)}
	phase := cmp.Or(status.Phase, v1alpha1.RunPending)
	at := slices.Index(phases, phase)
	for i, one := range phases {
		shown.Steps = append(shown.Steps, step{string(one), at < 0 || i < at, i == at})
	}
	run := progress.Current(s.Experiment, s.Runs)
	if run == nil {
		return shown
	}
	shown.Arm, shown.Scenario, shown.Block, shown.Attempt = run.Spec.Arm, run.Spec.Scenario.Name, run.Spec.Block, run.Spec.Attempt
	for _, load := range run.Spec.Scenario.Loads {
		row := loadOf(load.Name, run.Status.Loads)
		shown.Records = shown.Records || row.Records != ""
		shown.Loads = append(shown.Loads, row)
	}
	shown.Charts = chartsOf(s.Courses)
	if slices.ContainsFunc(shown.Loads, func(row loadRow) bool { return !row.Told.IsZero() }) {
		// The table says the same, and more.
		shown.Doing = ""
	}
	return shown
}

func loadOf(name string, loads []v1alpha1.LoadStatus) loadRow {
	row := loadRow{Name: name, State: "waiting"}
	at := slices.IndexFunc(loads, func(load v1alpha1.LoadStatus) bool { return load.Name == name })
	if at < 0 {
		return row
	}
	load := loads[at]
	row.State = stateOf(load)
	told := load.Progress
	if told == nil {
		return row
	}
	row.Users, row.Requests, row.Errors, row.Told = fmt.Sprint(told.Users), told.RequestsPerSecond, told.ErrorPercent+" %", told.Time.Time
	for _, p95 := range told.P95 {
		row.P95 = append(row.P95, p95.Transaction+" "+p95.Milliseconds+" ms")
	}
	if told.Records != nil {
		row.Records = fmt.Sprint(*told.Records)
	}
	return row
}

func stateOf(load v1alpha1.LoadStatus) string {
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

// pastRuns are those that ended, the newest first, and how many are left out.
func pastRuns(runs []v1alpha1.PerfRun) ([]pastRun, int) {
	var shown []pastRun
	for i := range runs {
		run := &runs[i]
		if !run.Status.Phase.IsFinal() {
			continue
		}
		ended := pastRun{position: run.Spec.Position, Arm: run.Spec.Arm, Scenario: run.Spec.Scenario.Name, Block: run.Spec.Block, Valid: run.Status.Phase == v1alpha1.RunSucceeded}
		if !ended.Valid {
			ended.Invalid = run.Status.Message
		}
		ended.Ended, ended.Took = span(run.Status.Timings.ProvisionStart, run.Status.Timings.Finish)
		shown = append(shown, ended)
	}
	slices.SortStableFunc(shown, func(a, b pastRun) int { return cmp.Or(b.Ended.Compare(a.Ended), cmp.Compare(b.position, a.position)) })
	listed := min(len(shown), maxRuns)
	return shown[:listed], len(shown) - listed
}

func span(from, to *metav1.Time) (end time.Time, took string) {
	if to == nil {
		return time.Time{}, ""
	}
	if from != nil {
		took = prose.Duration(to.Sub(from.Time).Round(time.Second))
	}
	return to.Time, took
}

// clock is a time as a person reads it, with its day where that is another than the
// reader's.
func clock(at, now time.Time) string {
	if !isSameDay(at, now) {
		return minute(at, now)
	}
	return at.UTC().Format("15:04:05 UTC")
}

// minute is a clock without seconds.
func minute(at, now time.Time) string {
	if !isSameDay(at, now) {
		return at.UTC().Format("2 January 15:04 UTC")
	}
	return at.UTC().Format("15:04 UTC")
}

func isSameDay(a, b time.Time) bool {
	return a.UTC().Format(time.DateOnly) == b.UTC().Format(time.DateOnly)
}
