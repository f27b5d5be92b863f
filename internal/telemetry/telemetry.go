// SPDX-License-Identifier: Apache-2.0

// Package telemetry exposes metrics of the operator to Prometheus. The names and labels of the
// metrics are stable: dashboards and alerts outlive releases.
package telemetry

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	"perflab.dev/perflab/api/v1alpha1"
)

// Metrics counts events. A nil *Metrics counts nothing.
type Metrics struct {
	runs     *prometheus.CounterVec
	steps    *prometheus.HistogramVec
	analyses prometheus.Histogram
}

// stepBuckets range from the creation of a topic to a load overnight.
var stepBuckets = []float64{1, 5, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200}

// New registers the metrics. It panics if they are already registered: there is
// one operator in a process.
func New(registerer prometheus.Registerer) *Metrics {
	m := &Metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "perflab_runs_total",
			Help: "Number of finished runs, by outcome (succeeded, invalid) and by the reason of their condition Valid.",
		}, []string{"outcome", "reason"}),
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "perflab_run_step_duration_seconds",
			Help:    "Duration of the steps of valid runs.",
			Buckets: stepBuckets,
		}, []string{"step"}),
		analyses: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "perflab_analysis_duration_seconds",
			Help:    "Time to compute an experiment's results from its runs.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}),
	}
	registerer.MustRegister(m.runs, m.steps, m.analyses)
	m.runs.WithLabelValues(outcome(v1alpha1.RunSucceeded), v1alpha1.ReasonValid)
	for _, reason := range invalidReasons {
		m.runs.WithLabelValues(outcome(v1alpha1.RunInvalid), reason)
	}
	return m
}

// invalidReasons are the reasons of invalid runs. Their counters start at zero: a
// run takes half an hour, and Prometheus sees no increase in a series that starts
// with one.
var invalidReasons = []string{
	v1alpha1.ReasonDeadline, v1alpha1.ReasonEffectiveConfiguration, v1alpha1.ReasonRestoreFailed,
	v1alpha1.ReasonLoadStuck, v1alpha1.ReasonLoadFailed, v1alpha1.ReasonResultsMissing,
	v1alpha1.ReasonResultsTooLarge, v1alpha1.ReasonResultsForeign,
	v1alpha1.ReasonTooManyErrors, v1alpha1.ReasonImportIncomplete, v1alpha1.ReasonFaultNotInjected, v1alpha1.ReasonLoadNotHeld,
	v1alpha1.ReasonGeneratorSaturated, v1alpha1.ReasonCollectorGap, v1alpha1.ReasonNodeShared, v1alpha1.ReasonStatusRefused, v1alpha1.ReasonClockSkew,
	v1alpha1.ReasonRestarts, v1alpha1.ReasonWorkloadContested,
}

func outcome(phase v1alpha1.RunPhase) string { return strings.ToLower(string(phase)) }

// RunFinished counts a run that has just finished.
func (m *Metrics) RunFinished(run *v1alpha1.PerfRun) {
	if m == nil || !run.Status.Phase.IsFinal() {
		return
	}
	reason := ""
	if valid := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionValid); valid != nil {
		reason = valid.Reason
	}
	m.runs.WithLabelValues(outcome(run.Status.Phase), reason).Inc()
	if run.Status.Phase != v1alpha1.RunSucceeded || run.Status.Durations == nil {
		// The steps of an interrupted run would show its deadlines.
		return
	}
	for step, took := range stepDurations(run.Status.Durations) {
		m.steps.WithLabelValues(step).Observe(took.Seconds())
	}
}

func stepDurations(durations *v1alpha1.RunDurations) map[string]time.Duration {
	return map[string]time.Duration{
		"provision":  durations.Provision.Duration,
		"ready":      durations.Ready.Duration,
		"load_start": durations.LoadStart.Duration,
		"load":       durations.Load.Duration,
		"collect":    durations.Collect.Duration,
		"analyze":    durations.Analyze.Duration,
	}
}

// StartAnalysis starts the timer of an analysis; call stop at its end.
func (m *Metrics) StartAnalysis() (stop func()) {
	if m == nil {
		return func() {}
	}
	timer := prometheus.NewTimer(m.analyses)
	return func() { timer.ObserveDuration() }
}
