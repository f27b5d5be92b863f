// SPDX-License-Identifier: Apache-2.0

package importers

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/analysis"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/text/prose"
)

const (
	// Namespace of a record until it is imported.
	Namespace = "elsewhere"
	// NoTarget is the placeholder for an unknown address; no such host exists.
	NoTarget = "http://unknown.invalid"
	// mostPrimary is the number of default primary metrics: more would reduce their power.
	mostPrimary = 8
)

// ErrRecord means that the files don't form an experiment.
var ErrRecord = errors.New("the files do not form an experiment")

// Experiment is the known data of an imported experiment.
type Experiment struct {
	Name, Release, Question string
	// Tool that ran the loads.
	Tool string
	// Target of the loads; empty if unknown.
	Target string
	// Baseline is one of the arms.
	Baseline string
	// Arms and Scenarios by name, in order.
	Arms, Scenarios []string
	// Primary metrics; if none, the averages of all transactions, if they are few.
	Primary []string
	// Higher and Lower match the custom metrics with this direction; nil for none.
	Higher, Lower *regexp.Regexp
	// MarginPercent is the equivalence margin; 0 for the default.
	MarginPercent int32
	// Began is when the runs took place, if the files don't contain it; zero if unknown.
	Began time.Time
	Runs  []Run
}

// Run is the data of a file.
type Run struct {
	Arm, Scenario string
	// Loads of the metrics.
	Loads []string
	// Block from 1.
	Block int32
	// File that was read, and its SHA-256.
	File, SHA256 string
	Measured     *Measured
}

// Record returns the experiment and its runs as PerfLab would have recorded them, as far as
// known. It fails with ErrRecord.
func (e *Experiment) Record() (*v1alpha1.PerfExperiment, []v1alpha1.PerfRun, error) {
	if err := e.date(); err != nil {
		return nil, nil, err
	}
	analysis, doubts, err := e.decide()
	if err != nil {
		return nil, nil, err
	}
	made := &v1alpha1.PerfExperiment{Spec: e.spec(analysis)}
	made.Status.Warnings = append(doubts, e.warnings()...)
	made.Name, made.Namespace = e.Name, Namespace
	made.Annotations = map[string]string{v1alpha1.AnnotationElsewhere: e.files()}
	if e.Release != "" {
		made.Annotations[v1alpha1.AnnotationRelease] = e.Release
	}
	planned := plan.From(&made.Spec, made.Spec.System, 0)
	runs := e.runs(made, &planned)
	e.report(made, &planned, runs)
	return made, runs, nil
}

// date gives each run a time, so that they have an order.
func (e *Experiment) date() error {
	for i := range e.Runs {
		run := &e.Runs[i]
		if !run.Measured.Start.IsZero() {
			continue
		}
		if e.Began.IsZero() {
			return fmt.Errorf("%w: %s does not contain the time of the measurement: set it with --measured, for example --measured 2025-01-03", ErrRecord, run.File)
		}
		run.Measured.Start = e.Began
	}
	return nil
}

// spec sets the known fields, and those that the schema requires.
func (e *Experiment) spec(analysis v1alpha1.Analysis) v1alpha1.PerfExperimentSpec {
	all := int32(100)
	made := v1alpha1.PerfExperimentSpec{
		Question: e.Question,
		System:   v1alpha1.System{Target: v1alpha1.Target{URL: cmp.Or(e.Target, NoTarget)}},
		Design:   v1alpha1.Design{Order: v1alpha1.OrderFixed, MaxRuns: max(200, int32(len(e.Runs)))},
		Analysis: analysis,
		// Everything in the files counts.
		Measurement: v1alpha1.Measurement{WarmUp: &metav1.Duration{}, Tail: &metav1.Duration{}},
		Reset:       v1alpha1.ResetNone,
		Validity:    v1alpha1.Validity{MaxErrorPercent: &all, MaxFailedRequestsPercent: &all, MaxFailedChecksPercent: &all},
	}
	for _, name := range e.Arms {
		made.Arms = append(made.Arms, v1alpha1.Arm{Name: name, Baseline: name == e.Baseline})
	}
	for _, name := range e.Scenarios {
		scenario := v1alpha1.Scenario{Name: name}
		for _, load := range e.loads(name) {
			scenario.Loads = append(scenario.Loads, v1alpha1.Load{Name: load, Elsewhere: &v1alpha1.Elsewhere{Tool: e.Tool}})
		}
		made.Scenarios = append(made.Scenarios, scenario)
	}
	for _, run := range e.Runs {
		made.Design.Blocks = max(made.Design.Blocks, run.Block)
	}
	return made
}

func (e *Experiment) loads(scenario string) []string {
	var found []string
	for _, run := range e.Runs {
		if run.Scenario == scenario {
			found = append(found, run.Loads...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// files lists all files in the given order.
func (e *Experiment) files() string {
	const most = 3
	var names []string
	for _, run := range e.Runs {
		if !slices.Contains(names, run.File) {
			names = append(names, run.File)
		}
	}
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + " and " + prose.Counted(more, "further file")
	}
	return prose.Enumerate(names)
}

// runs are ordered by block, and within it by time.
func (e *Experiment) runs(of *v1alpha1.PerfExperiment, planned *plan.Plan) []v1alpha1.PerfRun {
	ordered := slices.Clone(e.Runs)
	slices.SortStableFunc(ordered, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), a.Measured.Start.Compare(b.Measured.Start),
			cmp.Compare(slices.Index(e.Arms, a.Arm), slices.Index(e.Arms, b.Arm)), cmp.Compare(slices.Index(e.Scenarios, a.Scenario), slices.Index(e.Scenarios, b.Scenario)))
	})
	perBlock := int32(len(e.Arms) * len(e.Scenarios))
	made := make([]v1alpha1.PerfRun, 0, len(ordered))
	within := int32(0)
	for i, from := range ordered {
		if i > 0 && from.Block != ordered[i-1].Block {
			within = 0
		}
		within++
		made = append(made, e.run(of, planned, from, (from.Block-1)*perBlock+within))
	}
	return made
}

func (e *Experiment) run(of *v1alpha1.PerfExperiment, planned *plan.Plan, from Run, position int32) v1alpha1.PerfRun {
	at := slices.IndexFunc(of.Spec.Scenarios, func(s v1alpha1.Scenario) bool { return s.Name == from.Scenario })
	configured, _ := arms.Named(planned.Arms, from.Arm)
	const attempt = 1
	made := v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{
		Experiment: e.Name, PlanHash: planned.Hash, Block: from.Block, Position: position, Attempt: attempt, Arm: from.Arm,
		System: configured.System, Scenario: *of.Spec.Scenarios[at].DeepCopy(), Measurement: of.Spec.Measurement, Reset: of.Spec.Reset,
	}}
	made.Name, made.Namespace = naming.Long.Run(e.Name, from.Block, from.Arm, from.Scenario, attempt), Namespace
	made.Labels = naming.RunLabels(&made)
	made.Annotations = map[string]string{v1alpha1.AnnotationElsewhere: from.File}
	if from.SHA256 != "" {
		made.Annotations[v1alpha1.AnnotationElsewhere] += " sha256:" + from.SHA256
	}
	made.Status = v1alpha1.PerfRunStatus{
		Phase: v1alpha1.RunSucceeded, Observations: from.Measured.Observations, Warnings: from.Measured.Notes,
		Timings: v1alpha1.RunTimings{LoadStart: stamp(from.Measured.Start), LoadFinish: stamp(from.Measured.End)},
	}
	return made
}

// stamp truncates a time to whole seconds, as the cluster does.
func stamp(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at.UTC().Truncate(time.Second)}
}

// report sets the status of a complete experiment.
func (e *Experiment) report(of *v1alpha1.PerfExperiment, planned *plan.Plan, runs []v1alpha1.PerfRun) {
	status := &of.Status
	status.Phase, status.PlanHash, status.Seed = v1alpha1.ExperimentComplete, planned.Hash, &planned.Seed
	status.Runs = &v1alpha1.RunCounts{Planned: int32(len(planned.Runs)), Done: int32(len(runs))}
	status.Progress = fmt.Sprintf("%d/%d", status.Runs.Done, status.Runs.Planned)
	for i := range runs {
		timings := &runs[i].Status.Timings
		if status.StartTime == nil || timings.LoadStart.Before(status.StartTime) {
			status.StartTime = timings.LoadStart
		}
		end := timings.LoadFinish
		if end == nil {
			end = timings.LoadStart
		}
		if status.CompletionTime == nil || status.CompletionTime.Before(end) {
			status.CompletionTime = end
		}
	}
	answer := analysis.Analyze(&of.Spec, planned.Arms, planned.Seed, runs)
	status.Results = analysis.Describe(planned.Arms, of.Spec.Scenarios, runs)
	found := answer.Status()
	found.Final = true
	status.Analysis, status.Verdict, status.Comparisons = &found, answer.Summary(true), answer.Bounded()
	for _, arm := range planned.Arms {
		status.Arms = append(status.Arms, v1alpha1.ArmStatus{Name: arm.Name, Baseline: arm.Baseline, Verdicts: answer.ArmVerdicts(arm)})
	}
	const message = "imported from another tool"
	for _, kind := range []string{v1alpha1.ConditionComplete, v1alpha1.ConditionReady} {
		status.Conditions = append(status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonComplete, Message: message, LastTransitionTime: *status.CompletionTime,
		})
	}
}

// warnings are sentences about the order of the runs, if their times are known.
func (e *Experiment) warnings() []string {
	var found []string
	if counts := e.uneven(); counts != "" {
		found = append(found, counts)
	}
	first, last := map[string]time.Time{}, map[string]time.Time{}
	for _, run := range e.Runs {
		at := run.Measured.Start
		if known, is := first[run.Arm]; !is || at.Before(known) {
			first[run.Arm] = at
		}
		if at.After(last[run.Arm]) {
			last[run.Arm] = at
		}
	}
	for _, arm := range e.Arms {
		if arm != e.Baseline && e.count(arm)+e.count(e.Baseline) > 2 && (first[arm].After(last[e.Baseline]) || last[arm].Before(first[e.Baseline])) {
			found = append(found, fmt.Sprintf("all runs of arm %q were before or after all runs of the baseline %q: any change in between looks like a difference between the arms", arm, e.Baseline))
		}
	}
	return found
}

// uneven lists arms with more runs than others.
func (e *Experiment) uneven() string {
	var counts []string
	differ := false
	for _, arm := range e.Arms {
		counts = append(counts, fmt.Sprintf("%s has %d", arm, e.count(arm)))
		differ = differ || e.count(arm) != e.count(e.Arms[0])
	}
	if !differ {
		return ""
	}
	return "not every arm has a run in every block, and only complete blocks are compared: " + prose.Enumerate(counts)
}

// count counts the runs of an arm.
func (e *Experiment) count(arm string) int {
	found := 0
	for _, run := range e.Runs {
		if run.Arm == arm {
			found++
		}
	}
	return found
}
