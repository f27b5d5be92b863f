// SPDX-License-Identifier: Apache-2.0

// Package analysisplan resolves what an experiment decides: by which metrics, with which
// margin and confidence. It is pure, and independent of results.
package analysisplan

import (
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/inference/stats"
	"perflab.dev/perflab/internal/inference/verdict"
	"perflab.dev/perflab/internal/load/kinds"
	"perflab.dev/perflab/internal/measure/metric"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Defaults of the API, for specs without API defaults.
const (
	defaultMargin     = 5
	defaultConfidence = 95
	// maxPrimary is the limit of the declared list.
	maxPrimary = 16
)

// Question is the resolved analysis of an experiment. Its hash depends on the names of its
// fields.
type Question struct {
	// Primary are the deciding metrics; without any, everything is exploratory.
	Primary []string
	// Guards are the guardrail metrics, which no winner may make worse; without any, the
	// defaults apply.
	Guards []string
	// MarginPercent of the baseline is the equivalence margin.
	MarginPercent int32
	// ConfidencePercent of the intervals.
	ConfidencePercent int32
	// HalfWidthPercent is the target for intervals; 0 without a target.
	HalfWidthPercent int32
	// Interim are the interim analyses, which stop the experiment once every primary
	// comparison has a verdict; zero without interim analyses.
	Interim stats.InterimAnalyses `json:"Looks,omitzero"` // The name is part of hashes.
	// Pairs are additional comparisons between arms; empty if there are none, which keeps
	// earlier hashes.
	Pairs v1alpha1.Pairs `json:",omitempty"`
	// Higher are custom metrics for which higher is better.
	Higher []string
	// Lower are custom metrics for which lower is declared to be better.
	Lower []string `json:",omitempty"`
	// Imported: another tool measured the experiment, so a custom metric has the direction
	// that is declared or that its unit implies, or none.
	Imported bool `json:"-"`
	// Written is the hash of the declared question, if its metrics were resolved.
	Written string `json:"-"`
}

// New resolves the question of an experiment.
func New(spec *v1alpha1.PerfExperimentSpec) Question {
	question := Question{
		Primary:           spec.Analysis.Primary,
		Guards:            spec.Analysis.Guards,
		Pairs:             spec.Analysis.Comparisons,
		MarginPercent:     orDefault(spec.Analysis.MarginPercent, defaultMargin),
		ConfidencePercent: orDefault(spec.Analysis.ConfidencePercent, defaultConfidence),
	}
	if len(question.Primary) == 0 {
		question.Primary = DefaultPrimary(spec.Scenarios)
	}
	design := spec.DesignOrDefault()
	if target := design.Target; target != nil {
		question.HalfWidthPercent = target.HalfWidthPercent
		if target.Verdicts {
			question.Interim = stats.InterimAnalyses{First: int(max(design.Blocks, verdict.MinimumBlocks)), Last: int(target.MaxBlocks)}
		}
	}
	if prometheus := spec.Measurement.Prometheus; prometheus != nil {
		for _, custom := range prometheus.Metrics {
			if custom.HigherIsBetter {
				question.Higher = append(question.Higher, custom.Name)
			}
		}
	}
	question.Higher = append(question.Higher, trimCustomPrefix(spec.Analysis.HigherIsBetter)...)
	question.Lower = trimCustomPrefix(spec.Analysis.LowerIsBetter)
	question.Imported = provenance.Tool(spec) != ""
	return question
}

// trimCustomPrefix removes the prefix of custom metrics.
func trimCustomPrefix(names []string) []string {
	var custom []string
	for _, name := range names {
		custom = append(custom, metric.Plain(strings.TrimPrefix(name, metric.Custom+"/")))
	}
	return custom
}

func orDefault(given, otherwise int32) int32 {
	if given == 0 {
		return otherwise
	}
	return given
}

// DefaultPrimary returns the primary metrics of an experiment that declares none: what a
// user of the library waits for. A script has none, because its important transactions are
// unknown.
func DefaultPrimary(scenarios []v1alpha1.Scenario) []string {
	var primary []string
	for _, scenario := range scenarios {
		for _, load := range scenario.Loads {
			for _, name := range primaryOf(scenario, load) {
				if !slices.Contains(primary, name) && len(primary) < maxPrimary {
					primary = append(primary, name)
				}
			}
		}
	}
	return primary
}

// primaryOf returns a load's default primary metrics: in a scenario with a capacity, that; in one
// with faults, what they cost.
func primaryOf(scenario v1alpha1.Scenario, load v1alpha1.Load) []string {
	if len(scenario.Faults) > 0 && !kinds.IsBatch(load) {
		return faultCosts(scenario, load)
	}
	if scenario.Capacity == nil {
		return kinds.ForLoad(load).Primary()
	}
	if stepped, found := scenario.Capacity.LoadOf(scenario.Loads); found && stepped.Name == load.Name {
		return []string{metric.Name(load.Name, metric.Capacity)}
	}
	return nil
}

// faultCosts are the metrics of a fault that are always defined.
func faultCosts(scenario v1alpha1.Scenario, load v1alpha1.Load) []string {
	var costs []string
	for _, fault := range scenario.Faults {
		for _, statistic := range []string{metric.LostTime, metric.ExcessErrors} {
			costs = append(costs, metric.In(metric.Name(load.Name, statistic), metric.AfterFault(fault.Name)))
		}
	}
	return costs
}

// ResolveMetrics returns the question with the declared metrics replaced by the measured
// ones that they mean.
func (q Question) ResolveMetrics(measured []string) Question {
	q.Written = q.Hash()
	q.Primary, q.Guards = resolveMetrics(q.Primary, measured), resolveMetrics(q.Guards, measured)
	return q
}

func resolveMetrics(written, measured []string) []string {
	var all []string
	for _, one := range written {
		if slices.Contains(measured, one) {
			all = append(all, one)
			continue
		}
		isMeant := func(name string) bool { return metric.Same(one, name) }
		if at := slices.IndexFunc(measured, isMeant); at >= 0 {
			one = measured[at]
		}
		all = append(all, one)
	}
	return all
}

// Hash identifies the declared question.
func (q Question) Hash() string {
	if q.Written != "" {
		return q.Written
	}
	return naming.Hash(q)[:16]
}

// Alpha is the false-positive rate.
func (q Question) Alpha() float64 { return 1 - float64(q.ConfidencePercent)/100 }

// IsPrimary reports whether a metric is primary.
func (q Question) IsPrimary(name string) bool { return slices.Contains(q.Primary, name) }

// IsGuard reports whether a metric is a guardrail.
func (q Question) IsGuard(name string) bool {
	if len(q.Guards) > 0 {
		return slices.Contains(q.Guards, name)
	}
	return metric.Parse(name).IsGuard()
}

// Direction returns in which direction a metric gets better.
func (q Question) Direction(name, unit string) verdict.Direction {
	of := metric.Parse(name)
	if !q.Imported {
		return verdict.NewDirection(of.HigherIsBetter(q.Higher), true)
	}
	return verdict.NewDirection(of.Direction(unit, q.Higher, q.Lower))
}

// Status returns the question as it is recorded.
func (q Question) Status() v1alpha1.AnalysisStatus {
	status := v1alpha1.AnalysisStatus{
		Primary: q.Primary, Guards: q.Guards,
		MarginPercent: q.MarginPercent, ConfidencePercent: q.ConfidencePercent,
		Hash: q.Hash(),
	}
	if q.Interim.Last > 0 {
		status.InterimAnalyses = &v1alpha1.InterimAnalyses{First: int32(q.Interim.First), Last: int32(q.Interim.Last)}
		status.Looks = status.InterimAnalyses
	}
	return status
}

// Precision is the widest interval of an experiment's primary comparisons, relative to the
// target half-width.
type Precision struct {
	// Measured is false if no primary metric has been measured.
	Measured bool
	// HalfWidthPercent of the baseline; infinite if there is no interval.
	HalfWidthPercent float64
	// Scenario, Metric and Arm of the widest interval.
	Scenario, Metric, Arm string
}

// VerdictProgress is the number of primary comparisons with a verdict.
type VerdictProgress struct {
	// Compared counts the primary comparisons, Undecided those that are inconclusive or
	// have no verdict.
	Compared, Undecided int
	// Chance is the largest probability, among the undecided, of a verdict by the last
	// interim analysis.
	Chance float64
	// Scenario, Metric and Arm of that comparison.
	Scenario, Metric, Arm string
}
