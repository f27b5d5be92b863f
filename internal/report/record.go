// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/metric"
	"perflab.dev/perflab/internal/observation"
	"perflab.dev/perflab/internal/stats"
)

// record is an Input, looked up in the ways the sections ask.
type record struct {
	Input
	arms      []arm
	scenarios []v1alpha1.Scenario
	// journal holds all runs in the order of the plan.
	journal []*v1alpha1.PerfRun
	// cells hold the valid runs' values.
	cells       map[place]*values
	metrics     map[string][]metric.Metric // by scenario, sorted
	answer      answered
	comparisons map[place]*comparison.Comparison
	trace       map[string]*Trace // by run
}

// place is where a value belongs.
type place struct{ scenario, metric, arm string }

// arm is a configuration, as the report shows it.
type arm struct {
	v1alpha1.ArmStatus
	// shade is the arm's colour and mark in charts.
	shade int
}

// values are those of one metric, arm and scenario, one per block, in the order
// of blocks.
type values struct {
	unit    string
	blocks  []int32
	numbers []float64
	samples int64
}

func (v *values) mean() float64 {
	if v == nil || len(v.numbers) == 0 {
		return math.NaN()
	}
	return stats.Describe(v.numbers).Mean
}

// halfWidth of the mean's interval; NaN with fewer than two runs.
func (v *values) halfWidth(confidence float64) float64 {
	if v == nil || len(v.numbers) < 2 {
		return math.NaN()
	}
	low, high := stats.Mean(v.numbers).Interval(confidence)
	return (high - low) / 2
}

// shown writes the mean with as many digits as the runs support.
func (v *values) shown(confidence float64) string {
	if v == nil {
		return dash
	}
	mean := v.mean()
	return fixed(mean, decimals(mean, v.halfWidth(confidence)))
}

func newRecord(input Input) (*record, error) {
	r := &record{Input: input, cells: map[place]*values{}, metrics: map[string][]metric.Metric{}, comparisons: map[place]*comparison.Comparison{}}
	runs := slices.Clone(input.Runs)
	slices.SortFunc(runs, inJournalOrder)
	for i := range runs {
		r.journal = append(r.journal, &runs[i])
	}
	r.arms = armsOf(&input.Experiment, r.journal)
	r.scenarios = scenariosOf(&input.Experiment, r.journal)
	var err error
	if r.trace, err = r.traces(); err != nil {
		return nil, err
	}
	var reader observation.Reader
	for _, run := range r.journal {
		if err := r.take(run, &reader); err != nil {
			return nil, err
		}
	}
	r.sortMetrics()
	r.answer = answerOf(r)
	for _, fault := range reader.Faults() {
		// The answer, too, has read what the status holds.
		if !slices.Contains(r.answer.Warnings, fault) {
			r.answer.Warnings = append(r.answer.Warnings, fault)
		}
	}
	for i := range r.answer.Comparisons {
		c := &r.answer.Comparisons[i]
		r.comparisons[place{c.Scenario, c.Metric, c.Arm}] = c
	}
	return r, nil
}

// take adds the values of a run, if it counts.
func (r *record) take(run *v1alpha1.PerfRun, reader *observation.Reader) error {
	if run.Status.Phase != v1alpha1.RunSucceeded {
		return nil
	}
	counted := r.valid(run.Spec.Scenario.Name, run.Spec.Arm)
	if slices.ContainsFunc(counted, func(other *v1alpha1.PerfRun) bool { return other != run && other.Spec.Block == run.Spec.Block }) {
		return fmt.Errorf("%w: run %q: block %d of arm %q under scenario %q has two valid runs", ErrInput, run.Name, run.Spec.Block, run.Spec.Arm, run.Spec.Scenario.Name)
	}
	reader.Read(run.Name, r.observationsOf(run), func(of *v1alpha1.Observation, value float64) error {
		return r.add(run, of, value)
	})
	r.addRequests(run)
	return nil
}

// errTwice says that a run has two values of one metric.
var errTwice = errors.New("the run has it twice")

func (r *record) add(run *v1alpha1.PerfRun, of *v1alpha1.Observation, value float64) error {
	at := place{run.Spec.Scenario.Name, of.Metric, run.Spec.Arm}
	found := r.cells[at]
	if found == nil {
		found = &values{unit: of.Unit}
		r.cells[at] = found
	}
	if slices.Contains(found.blocks, run.Spec.Block) {
		return errTwice
	}
	found.blocks = append(found.blocks, run.Spec.Block)
	found.numbers = append(found.numbers, value)
	found.samples += of.Samples
	return nil
}

func (r *record) sortMetrics() {
	seen := map[string]map[string]bool{}
	for at := range r.cells {
		if seen[at.scenario] == nil {
			seen[at.scenario] = map[string]bool{}
		}
		seen[at.scenario][at.metric] = true
	}
	for scenario, names := range seen {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			r.metrics[scenario] = append(r.metrics[scenario], metric.Parse(name))
		}
	}
}

// at finds the values of a metric; nil where no valid run gave it.
func (r *record) at(scenario, metric, arm string) *values {
	return r.cells[place{scenario, metric, arm}]
}

// unit of a metric, from whichever arm has it.
func (r *record) unit(scenario, metric string) string {
	for _, arm := range r.arms {
		if found := r.at(scenario, metric, arm.Name); found != nil {
			return found.unit
		}
	}
	return ""
}

// baseline is the name of the arm that the others are compared with.
func (r *record) baseline() string {
	for _, arm := range r.arms {
		if arm.Baseline {
			return arm.Name
		}
	}
	return ""
}

func (r *record) twin() string {
	for _, arm := range r.arms {
		if arm.Twin {
			return arm.Name
		}
	}
	return ""
}

// severalArms: more than one arm is compared, so that each has to be named.
func (r *record) severalArms() bool {
	compared := 0
	for _, arm := range r.arms {
		if !arm.Baseline && !arm.Twin {
			compared++
		}
	}
	return compared > 1
}

// confidence of the intervals, as a share.
func (r *record) confidence() float64 { return r.answer.confidencePercent / 100 }

// valid runs of an arm under a scenario.
func (r *record) valid(scenario, arm string) []*v1alpha1.PerfRun {
	var found []*v1alpha1.PerfRun
	for _, run := range r.journal {
		if run.Spec.Scenario.Name == scenario && run.Spec.Arm == arm && run.Status.Phase == v1alpha1.RunSucceeded {
			found = append(found, run)
		}
	}
	return found
}

func (r *record) counts() (valid, invalid, other int) {
	for _, run := range r.journal {
		switch run.Status.Phase {
		case v1alpha1.RunSucceeded:
			valid++
		case v1alpha1.RunInvalid:
			invalid++
		default:
			other++
		}
	}
	return valid, invalid, other
}

// armsOf lists the arms as the experiment recorded them; before its first run,
// as it declares them. The baseline comes first.
func armsOf(experiment *v1alpha1.PerfExperiment, runs []*v1alpha1.PerfRun) []arm {
	var all []arm
	for _, status := range experiment.Status.Arms {
		all = append(all, arm{ArmStatus: status})
	}
	if len(all) == 0 {
		for _, declared := range experiment.Spec.Arms {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: declared.Name, Baseline: declared.Baseline}})
		}
	}
	for _, run := range runs {
		if !slices.ContainsFunc(all, func(known arm) bool { return known.Name == run.Spec.Arm }) {
			all = append(all, arm{ArmStatus: v1alpha1.ArmStatus{Name: run.Spec.Arm}})
		}
	}
	slices.SortStableFunc(all, func(a, b arm) int { return cmp.Compare(rank(a), rank(b)) })
	shade := 0
	for i := range all {
		all[i].shade = shade
		if !all[i].Twin {
			shade++
		}
	}
	return all
}

// rank puts the baseline first and its twin next to it.
func rank(a arm) int {
	switch {
	case a.Baseline:
		return 0
	case a.Twin:
		return 1
	}
	return 2
}

func scenariosOf(experiment *v1alpha1.PerfExperiment, runs []*v1alpha1.PerfRun) []v1alpha1.Scenario {
	all := slices.Clone(experiment.Spec.Scenarios)
	for _, run := range runs {
		if !slices.ContainsFunc(all, func(known v1alpha1.Scenario) bool { return known.Name == run.Spec.Scenario.Name }) {
			all = append(all, run.Spec.Scenario)
		}
	}
	return all
}
