// SPDX-License-Identifier: Apache-2.0

// Package analysisplan says what an experiment is to decide: by which metrics, with
// which margin and confidence. It is pure, and knows nothing of answers.
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

// Defaults of the API, for declarations that never went through it.
const (
	defaultMargin     = 5
	defaultConfidence = 95
	// maxPrimary is what the declaration can list.
	maxPrimary = 16
)

// Question is what an experiment is to decide, with its defaults filled in.
type Question struct {
	// Primary are the metrics that decide; none: everything is exploratory.
	Primary []string
	// Guards are metrics that no winner may make worse; none: the defaults.
	Guards []string
	// MarginPercent of the baseline is the difference that does not matter.
	MarginPercent int32
	// ConfidencePercent of the intervals.
	ConfidencePercent int32
	// HalfWidthPercent that intervals are to have; 0: no target.
	HalfWidthPercent int32
	// Looks are the blocks after which one looks whether every primary comparison has
	// a verdict; the zero value: nobody asks before all blocks are done.
	Looks stats.Looks `json:",omitzero"`
	// Pairs of arms that are compared beside each with the baseline; empty: none,
	// as before there was a choice, which earlier hashes rest on.
	Pairs v1alpha1.Pairs `json:",omitempty"`
	// Higher are the custom metrics that get better when higher.
	Higher []string
	// Lower are the custom metrics that are said to get better when lower.
	Lower []string `json:",omitempty"`
	// Imported: another tool measured it, so a custom metric has the direction that
	// it is said to have or that its unit tells, or none.
	Imported bool `json:"-"`
	// Written is the hash of the question as it was written, if its metrics were resolved.
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
			question.Looks = stats.Looks{First: int(max(design.Blocks, verdict.MinimumBlocks)), Last: int(target.MaxBlocks)}
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

// trimCustomPrefix are metrics without what all custom ones begin with.
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

// DefaultPrimary are the metrics that decide where nobody names any: what a user
// of the library waits for. Of a script it is not known which of its
// transactions that is.
func DefaultPrimary(scenarios []v1alpha1.Scenario) []string {
	var primary []string
	for _, scenario := range scenarios {
		for _, load := range scenario.Loads {
			for _, name := range kinds.ForLoad(load).Primary() {
				if !slices.Contains(primary, name) && len(primary) < maxPrimary {
					primary = append(primary, name)
				}
			}
		}
	}
	return primary
}

// ResolveMetrics is the question with the metrics that were measured in place of those that people
// wrote as they read them.
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

// Hash identifies the question as it was written.
func (q Question) Hash() string {
	if q.Written != "" {
		return q.Written
	}
	return naming.Hash(q)[:16]
}

// Alpha is the share of false verdicts that is allowed.
func (q Question) Alpha() float64 { return 1 - float64(q.ConfidencePercent)/100 }

// IsPrimary tells the metrics that decide.
func (q Question) IsPrimary(name string) bool { return slices.Contains(q.Primary, name) }

// IsGuard tells the metrics that no winner may make worse.
func (q Question) IsGuard(name string) bool {
	if len(q.Guards) > 0 {
		return slices.Contains(q.Guards, name)
	}
	return metric.Parse(name).IsGuard()
}

// Direction tells which way a metric gets better.
func (q Question) Direction(name, unit string) verdict.Direction {
	of := metric.Parse(name)
	if !q.Imported {
		return verdict.DirectionOf(of.HigherIsBetter(q.Higher), true)
	}
	return verdict.DirectionOf(of.Direction(unit, q.Higher, q.Lower))
}

// Status is the question as it is frozen.
func (q Question) Status() v1alpha1.AnalysisStatus {
	status := v1alpha1.AnalysisStatus{
		Primary: q.Primary, Guards: q.Guards,
		MarginPercent: q.MarginPercent, ConfidencePercent: q.ConfidencePercent,
		Hash: q.Hash(),
	}
	if q.Looks.Last > 0 {
		status.Looks = &v1alpha1.Looks{First: int32(q.Looks.First), Last: int32(q.Looks.Last)}
	}
	return status
}

// Precision is how far an answer is from the half-width that was asked for: the
// widest interval of an experiment's primary comparisons.
type Precision struct {
	// Measured is false where no primary metric has been measured.
	Measured bool
	// HalfWidthPercent of the baseline; infinite where there is no interval.
	HalfWidthPercent float64
	// Scenario, Metric and Arm it is of.
	Scenario, Metric, Arm string
}

// VerdictProgress is how far an answer is from a verdict on every primary comparison.
type VerdictProgress struct {
	// Compared are the primary comparisons, Undecided those of them that are
	// Inconclusive or have no verdict.
	Compared, Undecided int
	// Chance of a verdict by the last look, the largest among the undecided.
	Chance float64
	// Scenario, Metric and Arm of that one.
	Scenario, Metric, Arm string
}
