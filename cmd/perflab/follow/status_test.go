// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"perflab.dev/perflab/cmd/perflab/console"
	"perflab.dev/perflab/cmd/perflab/exit"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(minutes int) *metav1.Time {
	return &metav1.Time{Time: noon.Add(time.Duration(minutes) * time.Minute)}
}

// underway is an experiment with two of six runs done, ten minutes each.
func underway() snapshot {
	seen := snapshot{}
	seen.experiment.Name = "partitions"
	seen.experiment.Status = v1alpha1.PerfExperimentStatus{
		Phase:   v1alpha1.ExperimentRunning,
		Runs:    &v1alpha1.RunCounts{Planned: 6, Done: 2, Invalid: 1},
		Current: &v1alpha1.CurrentRun{Run: "partitions-2-two", Phase: v1alpha1.RunLoading, Message: "cico: running 35s of 2m, 8 users, 12.3 requests/s"},
		InvalidRuns: []v1alpha1.InvalidRun{
			{Run: "partitions-1-two", Reason: v1alpha1.ReasonTooManyErrors, Message: "load \"cico\": 5 of 100 transactions failed"},
		},
		Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionUnknown, Message: "2 of 6 runs are done"},
			{Type: v1alpha1.ConditionSingleFactor, Status: metav1.ConditionFalse, Message: "an effect could come from either of two"},
			{Type: v1alpha1.ConditionKafkaReady, Status: metav1.ConditionTrue, Message: "ready"},
		},
	}
	for _, run := range []struct {
		phase      v1alpha1.RunPhase
		start, end *metav1.Time
	}{
		{v1alpha1.RunSucceeded, after(0), after(10)},
		{v1alpha1.RunInvalid, after(10), after(15)},
		{v1alpha1.RunSucceeded, after(15), after(25)},
		{v1alpha1.RunLoading, after(25), nil},
	} {
		seen.runs = append(seen.runs, v1alpha1.PerfRun{Status: v1alpha1.PerfRunStatus{
			Phase: run.phase, Timings: v1alpha1.RunTimings{ProvisionStart: run.start, Finish: run.end},
		}})
	}
	return seen
}

func TestStatusOfRunningExperiment(t *testing.T) {
	want := `partitions: Running
  [##########....................] 2 of 6 runs, 1 invalid
  SingleFactor: an effect could come from either of two
  invalid: partitions-1-two: load "cico": 5 of 100 transactions failed (TooManyErrors)
  about 35m0s left
  now: partitions-2-two: cico: running 35s of 2m, 8 users, 12.3 requests/s
`
	expect.Equal(t, want, textOf(underway(), after(30).Time), "status")
}

// A new run has no message yet.
func TestStatusOfPendingRun(t *testing.T) {
	for _, phase := range []v1alpha1.RunPhase{"", v1alpha1.RunPending} {
		seen := underway()
		seen.experiment.Status.Current = &v1alpha1.CurrentRun{Run: "partitions-2-two", Phase: phase}
		if got := textOf(seen, after(30).Time); !strings.Contains(got, "now: partitions-2-two: starting\n") {
			t.Errorf("in phase %q:\n%s", phase, got)
		}
	}
}

func complete(verdict v1alpha1.Verdict) snapshot {
	seen := snapshot{}
	seen.experiment.Name = "partitions"
	seen.experiment.Status = v1alpha1.PerfExperimentStatus{
		Phase: v1alpha1.ExperimentComplete,
		Runs:  &v1alpha1.RunCounts{Planned: 12, Done: 12},
		Comparisons: []v1alpha1.Comparison{
			{
				Scenario: "import", Metric: "create-1k/duration", Arm: "two", Unit: "s", Primary: true, Blocks: 6, Scale: "ratio",
				BaselineCenter: "9.75", ArmCenter: "6.3", Delta: "-35.4", Low: "-44", High: "-25.1", Verdict: verdict,
			},
			{Scenario: "import", Metric: "create-1k/records", Arm: "two", Scale: "ratio", BaselineCenter: "1000", ArmCenter: "1000"},
		},
	}
	return seen
}

// textOf is the status without colors.
func textOf(seen snapshot, now time.Time) string { return console.Style{}.PaintStatus(seen.lines(now)) }

// Colors follow from verdicts and phases, whatever the line is.
func TestStatusHighlights(t *testing.T) {
	worse, stalled := complete(v1alpha1.VerdictWorse), underway()
	stalled.experiment.Status.Phase = v1alpha1.ExperimentStalled
	stalled.experiment.Status.InvalidRuns = []v1alpha1.InvalidRun{{Run: "a", Message: "ended: Worse", Reason: v1alpha1.ReasonLoadFailed}}
	for want, seen := range map[string]snapshot{": " + console.ColorBad.Sprint("Worse") + "\n": worse, ": " + console.ColorBad.Sprint("Stalled") + "\n": stalled, console.ColorWarning.Sprint("invalid") + ": a: ended: Worse (LoadFailed)\n": stalled} {
		if got := (console.Style{Colors: true}).PaintStatus(seen.lines(noon)); strings.Count(got, want) != 1 {
			t.Errorf("%q is not in\n%q", want, got)
		}
	}
}

func TestStatusOfCompleteExperiment(t *testing.T) {
	want := `partitions: Complete
  [##############################] 12 of 12 runs
  two, create-1k/duration of import: 9.75 -> 6.3 s, -35.4 % (-44.0 to -25.1): Better
`
	expect.Equal(t, want, textOf(complete(v1alpha1.VerdictBetter), noon), "status")
	decided := complete(v1alpha1.VerdictBetter)
	decided.experiment.Status.Analysis = &v1alpha1.AnalysisStatus{Stopped: &v1alpha1.Stopped{Reason: v1alpha1.ReasonDecided, Message: "after 9 blocks the primary comparison has a verdict"}}
	const told = "no further block: after 9 blocks the primary comparison has a verdict"
	if got := textOf(decided, noon); !strings.Contains(got, "  "+told+"\n") {
		t.Errorf("status does not say why it stopped:\n%s", got)
	}
	if news := decided.news(); !slices.ContainsFunc(news, func(line string) bool { return strings.HasSuffix(line, ": "+told) }) {
		t.Errorf("news %q do not say why it stopped", news)
	}
}

// Changes since earlier releases follow the comparisons.
func TestStatusShowsChanges(t *testing.T) {
	seen := complete(v1alpha1.VerdictBetter)
	seen.experiment.Status.Changes = []v1alpha1.SeriesChange{{Sentence: "Check-In rose by 6.1 % between 2026.1 and 2026.2", Verdict: v1alpha1.VerdictWorse}}
	if got := textOf(seen, noon); !strings.HasSuffix(got, ": Better\n  Check-In rose by 6.1 % between 2026.1 and 2026.2: Worse\n") {
		t.Error(got)
	}
}

// A comparison's line is rounded, and explains a missing verdict.
func TestComparisonLine(t *testing.T) {
	few := v1alpha1.Comparison{
		Scenario: "cico", Metric: "cico/Check-In/average", Arm: "two", Unit: "ms", Blocks: 3, Scale: "ratio",
		BaselineCenter: "538.303", ArmCenter: "1434.71", Delta: "166.524", Low: "-42.3447", High: "1132.06",
	}
	errors := v1alpha1.Comparison{
		Scenario: "cico", Metric: "cico/errors", Arm: "two", Unit: "%", Blocks: 6, Scale: "difference",
		BaselineCenter: "0.5", ArmCenter: "0.75", Delta: "0.25", Verdict: v1alpha1.VerdictInconclusive, FurtherBlocks: 1,
	}
	apart := few
	apart.Blocks = 6
	early, unlike := apart, apart
	early.Withheld, unlike.Withheld = v1alpha1.ReasonBeforeFirstAnalysis, v1alpha1.ReasonErrorRatesDiffer
	for want, found := range map[string]v1alpha1.Comparison{
		"two, cico/Check-In/average: 538.3 -> 1435 ms, +166.5 % (-42.3 to +1132.1): no verdict below 6 blocks":                    few,
		"two, cico/Check-In/average: 538.3 -> 1435 ms, +166.5 % (-42.3 to +1132.1): not compared (see the report)":                apart,
		"two, cico/Check-In/average: 538.3 -> 1435 ms, +166.5 % (-42.3 to +1132.1): no verdict before the first interim analysis": early,
		"two, cico/errors: 0.5 -> 0.75 %, +0.25 points: Inconclusive, about 1 more block needed":                                  errors,
	} {
		expect.Equal(t, want, comparisonLine(found, nil).String())
	}
	// Earlier versions recorded no reason, and the wording of warnings decides nothing.
	apart.Warnings = []string{"descriptive only: anything"}
	interim := &v1alpha1.AnalysisStatus{Blocks: 6, InterimAnalyses: &v1alpha1.InterimAnalyses{First: 8, Last: 12}}
	for want, found := range map[string]v1alpha1.Comparison{"not compared (see the report)": unlike, "no verdict before the first interim analysis": apart} {
		if got := comparisonLine(found, interim).String(); !strings.HasSuffix(got, ": "+want) {
			t.Errorf("before the first interim analysis: %q, want %q", got, want)
		}
	}
	if got, want := comparisonLine(apart, nil).String(), ": not compared (see the report)"; !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOutcomes(t *testing.T) {
	stalled := underway()
	stalled.experiment.Status.Phase = v1alpha1.ExperimentStalled
	for name, test := range map[string]struct {
		seen   snapshot
		failOn string
		want   error
	}{
		"better":               {complete(v1alpha1.VerdictBetter), exit.FailOnWorse, nil},
		"worse":                {complete(v1alpha1.VerdictWorse), exit.FailOnWorse, exit.ErrRegression},
		"worse, but not asked": {complete(v1alpha1.VerdictWorse), "", nil},
		"stalled":              {stalled, "", exit.ErrStalled},
		"on":                   {underway(), exit.FailOnWorse, nil},
	} {
		if got := test.seen.outcome(test.failOn); !errors.Is(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Without a terminal, each change and each problem is one line, without
// repetitions and timers.
func TestScreenWithoutTerminal(t *testing.T) {
	var out bytes.Buffer
	screen := newScreen(&out)
	seen := snapshot{}
	seen.experiment.Name = "partitions"
	status := &seen.experiment.Status
	takeSnapshot := func() { screen.show(seen, noon) }
	doing := func(phase v1alpha1.RunPhase, message string) {
		status.Current = &v1alpha1.CurrentRun{Run: "partitions-1-one", Phase: phase, Message: message}
		status.WaitingFor = string(phase) + ": " + message
		takeSnapshot()
	}
	begun := &metav1.Time{Time: noon}
	loading := func(cico, create v1alpha1.LoadStatus, message string) {
		run := v1alpha1.PerfRun{ObjectMeta: metav1.ObjectMeta{Name: "partitions-1-one"}}
		run.Spec.Scenario.Loads = []v1alpha1.Load{{Name: "cico"}, {Name: "create"}}
		cico.Name, create.Name = "cico", "create"
		run.Status = v1alpha1.PerfRunStatus{
			Phase: v1alpha1.RunLoading, Message: message, Loads: []v1alpha1.LoadStatus{cico, create},
			Conditions: []metav1.Condition{{Type: v1alpha1.ConditionLoadsComplete, Reason: v1alpha1.ReasonLoading}},
		}
		seen.runs = []v1alpha1.PerfRun{run}
		doing(v1alpha1.RunLoading, message)
	}
	takeSnapshot()
	status.Phase, status.WaitingFor = v1alpha1.ExperimentPending, "waiting for run heaps-1 of another experiment"
	takeSnapshot()
	status.Phase, status.Runs = v1alpha1.ExperimentRunning, &v1alpha1.RunCounts{Planned: 2}
	doing(v1alpha1.RunPending, "")
	// The condition has the same message as the run: show it once.
	status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionImagesAvailable, Status: metav1.ConditionFalse, Message: `image "a:1" can't be pulled`}}
	doing(v1alpha1.RunProvisioning, `image "a:1" can't be pulled`)
	doing(v1alpha1.RunProvisioning, `image "a:1" can't be pulled`)
	screen.note("reading failed: timeout")
	screen.note("reading failed: timeout")
	status.Conditions = nil
	doing(v1alpha1.RunProvisioning, `Kafka "k" is being created: 0 of 3 brokers are ready`)
	doing(v1alpha1.RunProvisioning, `Kafka "k" is being created: 1 of 3 brokers is ready`)
	screen.note("reading failed: timeout")
	created, started := v1alpha1.LoadStatus{CreateTime: begun}, v1alpha1.LoadStatus{CreateTime: begun, StartTime: begun}
	loading(created, v1alpha1.LoadStatus{}, "cico: starting: 0 of 1 runner up; create: not started")
	loading(started, v1alpha1.LoadStatus{}, "cico: running 5s, until create ends; create: not started")
	loading(started, started, "cico: running 15s, until create ends, 4 users, 85 requests/s, Check-In p95 17 ms; create: running 1s, 3 of 10 records")
	loading(started, started, "cico: running 1m25s, until create ends, 4 users, 80 requests/s, 1 % errors, Check-In p95 18 ms; create: running 1m11s, 9 of 10 records")
	status.Runs = &v1alpha1.RunCounts{Planned: 2, Invalid: 1}
	status.InvalidRuns = []v1alpha1.InvalidRun{{Run: "partitions-1-one", Reason: v1alpha1.ReasonTooManyErrors, Message: "5 of 100 transactions failed"}}
	takeSnapshot()
	done := complete(v1alpha1.VerdictBetter)
	screen.show(done, noon)
	screen.show(done, noon)
	want := `partitions: not reconciled yet; is the operator running? (kubectl perflab doctor)
partitions: Pending
partitions: waiting for run heaps-1 of another experiment
partitions: Running
partitions: 0 of 2 runs are done
partitions: run partitions-1-one: Pending
partitions: run partitions-1-one: Provisioning: image "a:1" can't be pulled
reading failed: timeout
partitions: run partitions-1-one: Provisioning: Kafka "k" is being created: 0 of 3 brokers are ready
partitions: run partitions-1-one: Provisioning: Kafka "k" is being created: 1 of 3 brokers is ready
reading failed: timeout
partitions: run partitions-1-one: Loading: cico: starting; create: not started
partitions: run partitions-1-one: Loading: cico: running; create: not started
partitions: run partitions-1-one: Loading: cico: running; create: running
partitions: 0 of 2 runs are done, 1 invalid
partitions: run partitions-1-one is invalid: 5 of 100 transactions failed (TooManyErrors)
partitions: Complete
partitions: 12 of 12 runs are done
partitions: two, create-1k/duration of import: 9.75 -> 6.3 s, -35.4 % (-44.0 to -25.1): Better
`
	expect.Equal(t, want, out.String(), "the log")
}

// An experiment without a current run shows what it waits for.
func TestStatusOfWaitingExperiment(t *testing.T) {
	seen := snapshot{}
	seen.experiment.Name = "partitions"
	seen.experiment.Status = v1alpha1.PerfExperimentStatus{Phase: v1alpha1.ExperimentPending, WaitingFor: `waiting for PerfSystem "library": not found in the namespace`}
	want := "partitions: Pending\n  waiting for PerfSystem \"library\": not found in the namespace\n"
	expect.Equal(t, want, textOf(seen, noon), "status")
}

// The first run of an arm only looks for its capacity, which is then neither known nor out of range.
func TestStatusOfCapacities(t *testing.T) {
	for want, found := range map[string]v1alpha1.ArmCapacity{
		"full of searches: capacity 82 users (78 to 86), limited by search/Search/p95 in 5 of 6": {
			Value: "82", Low: "78", High: "86", Limiting: "search/Search/p95", LimitingRuns: 5, Runs: 6, Unit: "users",
		},
		"full of searches: capacity 82 users: supports the required load":         {Value: "82", Unit: "users", Required: v1alpha1.RequirementMet},
		"full of searches: capacity 82 users: does not support the required load": {Value: "82", Unit: "users", Required: v1alpha1.RequirementNotMet},
		"full of searches: capacity unknown: the first run only searches for it":  {Coarse: 1, Unit: "users"},
		"full of searches: capacity above the range":                              {Above: 2, Below: 1, Runs: 4, Unit: "users"},
		"full of searches: capacity below the range":                              {Below: 2, Runs: 3, Unit: "users"},
	} {
		found.Arm, found.Scenario = "full", "searches"
		expect.Equal(t, want, capacityLine(found), "status")
	}
}
