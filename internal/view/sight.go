// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/report"
)

// Sight is what is known of an experiment. Nobody changes it once it is made.
type Sight struct {
	// Version grows with each change.
	Version uint64
	// Experiment is nil until it was seen for the first time.
	Experiment *v1alpha1.PerfExperiment
	// Runs that follow its plan.
	Runs []v1alpha1.PerfRun
	// Courses are what the loads of the current run told, by load.
	Courses map[string][]Word
	// Seen is when the cluster was last known to say this.
	Seen time.Time
	// Lost says that the cluster does not answer; nil: it does.
	Lost *Loss
	// Gone says that the experiment was deleted; this was the last of it.
	Gone bool
}

// Loss of the cluster.
type Loss struct {
	Since time.Time
	Why   string
}

// Kept is what a report needs beside experiment and runs.
type Kept struct {
	Traces   map[string]*report.Trace
	Manifest *corev1.ConfigMap
	History  *corev1.ConfigMap
	Notes    []corev1.ConfigMap
}

// Watched is an experiment that somebody keeps an eye on.
type Watched interface {
	Sight() Sight
	// Kept reads what the report of these runs needs, as far as it may.
	Kept(ctx context.Context, of Sight) (Kept, error)
}

// isComplete: the report is all there is to show.
func (s Sight) isComplete() bool {
	return s.Experiment != nil && !s.Gone && s.Experiment.Status.Phase == v1alpha1.ExperimentComplete
}
