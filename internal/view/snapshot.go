// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
)

// Snapshot is the observed state of an experiment. It is immutable.
type Snapshot struct {
	// Version grows with each change.
	Version uint64
	// Experiment is nil until it is first observed.
	Experiment *v1alpha1.PerfExperiment
	// Runs that follow the experiment's plan.
	Runs []v1alpha1.PerfRun
	// Loads are the samples of the current run, by load.
	Loads map[string][]LoadSample
	// LastChange is when the cluster last confirmed this state.
	LastChange time.Time
	// Outage is set while the cluster is unavailable.
	Outage *Outage
	// Deleted means that the experiment was deleted; the snapshot is its last state.
	Deleted bool
}

// Outage of the cluster.
type Outage struct {
	Since  time.Time
	Reason string
}

// ReportInput is what a report needs in addition to the experiment and its runs.
type ReportInput struct {
	Traces   map[string]*report.Trace
	Manifest *corev1.ConfigMap
	History  *corev1.ConfigMap
	Notes    []corev1.ConfigMap
}

// Source provides the state of a watched experiment.
type Source interface {
	Snapshot() Snapshot
	// ReportInput reads the input of the report of these runs, as far as it is readable.
	ReportInput(ctx context.Context, shown Snapshot) (ReportInput, error)
}

// isComplete reports whether the report replaces the live page.
func (s Snapshot) isComplete() bool {
	return s.Experiment != nil && !s.Deleted && s.Experiment.Status.Phase == v1alpha1.ExperimentComplete
}
