// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/comparison"
	"perflab.dev/perflab/internal/naming"
)

// Defaults of the API, for declarations that never went through it.
const (
	defaultMargin     = 5
	defaultConfidence = 95
	// mostPrimary is what the declaration can list.
	mostPrimary = 16
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
	// Higher are the custom metrics that get better when higher.
	Higher []string
}

// QuestionOf resolves the question of an experiment.
func QuestionOf(spec *v1alpha1.PerfExperimentSpec) Question {
	question := Question{
		Primary:           spec.Analysis.Primary,
		Guards:            spec.Analysis.Guards,
		MarginPercent:     or(spec.Analysis.MarginPercent, defaultMargin),
		ConfidencePercent: or(spec.Analysis.ConfidencePercent, defaultConfidence),
	}
	if len(question.Primary) == 0 {
		question.Primary = DefaultPrimary(spec.Scenarios)
	}
	if spec.Design.Target != nil {
		question.HalfWidthPercent = spec.Design.Target.HalfWidthPercent
	}
	if prometheus := spec.Measurement.Prometheus; prometheus != nil {
		for _, metric := range prometheus.Metrics {
			if metric.HigherIsBetter {
				question.Higher = append(question.Higher, metric.Name)
			}
		}
	}
	return question
}

func or(given, otherwise int32) int32 {
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
			for _, metric := range decisive(load) {
				if !slices.Contains(primary, metric) && len(primary) < mostPrimary {
					primary = append(primary, metric)
				}
			}
		}
	}
	return primary
}

func decisive(load v1alpha1.Load) []string {
	switch {
	case load.DataImport != nil:
		return []string{load.Name + "/duration"}
	case load.CheckInCheckOut == nil:
		return nil
	}
	const neither, all = 0, 100
	var metrics []string
	share := load.CheckInCheckOut.CheckInPercent
	if share == nil || *share != neither {
		metrics = append(metrics, load.Name+"/Check-In/average")
	}
	if share == nil || *share != all {
		metrics = append(metrics, load.Name+"/Check-Out/average")
	}
	return metrics
}

// Hash identifies the question.
func (q Question) Hash() string { return naming.Hash(q)[:16] }

// Alpha is the share of false verdicts that is allowed.
func (q Question) Alpha() float64 { return 1 - float64(q.ConfidencePercent)/100 }

// IsPrimary tells the metrics that decide.
func (q Question) IsPrimary(metric string) bool { return slices.Contains(q.Primary, metric) }

// IsGuard tells the metrics that no winner may make worse.
func (q Question) IsGuard(metric string) bool {
	if len(q.Guards) > 0 {
		return slices.Contains(q.Guards, metric)
	}
	name, window := comparison.CutWindow(metric)
	parts := strings.Split(name, "/")
	last := parts[len(parts)-1]
	if IsServer(parts[0]) {
		return window == "" && parts[0] == "postgres" && strings.HasSuffix(name, "/connections/total/average")
	}
	// Transactions have three parts; single requests have more.
	const transaction = 3
	return window == "" && len(parts) <= transaction && (last == "errors" || last == "p95")
}

// Components are the first parts of the metrics that belong to no load.
var Components = []string{"module", "postgres", "kafka", "custom", "system", "node"}

// IsServer tells whether the first part of a metric names no load.
func IsServer(first string) bool { return slices.Contains(Components, first) }

// rising are the statistics that get better when higher.
var rising = []string{
	"recordsPerSecond", "requestsPerSecond", "transactionsPerSecond", "iterationsPerSecond",
	"samples", "records", "imports", "cacheHits",
}

// HigherIsBetter tells which way a metric gets better.
func (q Question) HigherIsBetter(metric string) bool { return q.Rising(metric) != "" }

// Rising is the part of a metric's name for which higher is better; empty where
// lower is.
func (q Question) Rising(metric string) string {
	name, _ := comparison.CutWindow(metric)
	parts := strings.Split(name, "/")
	if parts[0] == "custom" && len(parts) > 1 {
		if slices.Contains(q.Higher, parts[1]) {
			return parts[1]
		}
		return ""
	}
	// What a metric is may stand before how it is summed up:
	// postgres/primary/cacheHits/average.
	for _, part := range parts[1:] {
		if slices.Contains(rising, part) {
			return part
		}
	}
	return ""
}
