// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Fields by which runs can be selected: the API server selects by them, and the cache has an
// index of each.
const (
	FieldExperiment = "spec.experiment"
	FieldPhase      = "status.phase"
)

// IndexRuns adds the indexes of runs to the cache.
func IndexRuns(ctx context.Context, indexer client.FieldIndexer) error {
	for field, value := range map[string]func(*v1alpha1.PerfRun) string{
		FieldExperiment: func(run *v1alpha1.PerfRun) string { return run.Spec.Experiment },
		FieldPhase:      func(run *v1alpha1.PerfRun) string { return string(run.Status.Phase) },
	} {
		extract := func(object client.Object) []string {
			run, is := object.(*v1alpha1.PerfRun)
			if !is {
				return nil
			}
			return []string{value(run)}
		}
		if err := indexer.IndexField(ctx, &v1alpha1.PerfRun{}, field, extract); err != nil {
			return fmt.Errorf("indexing runs by %s: %w", field, err)
		}
	}
	return nil
}

// ListRuns lists the runs whose spec names an experiment.
func ListRuns(ctx context.Context, reader client.Reader, namespace, experiment string, options ...client.ListOption) ([]v1alpha1.PerfRun, error) {
	runs := &v1alpha1.PerfRunList{}
	options = append(options, client.InNamespace(namespace), client.MatchingFields{FieldExperiment: experiment})
	err := reader.List(ctx, runs, options...)
	if err != nil {
		return nil, fmt.Errorf("listing the runs of experiment %q: %w", experiment, err)
	}
	return runs.Items, nil
}

// activePhases are the phases of unfinished runs.
var activePhases = []v1alpha1.RunPhase{"", v1alpha1.RunPending, v1alpha1.RunProvisioning, v1alpha1.RunLoading, v1alpha1.RunCollecting}

// ListActiveRuns lists the active runs of a namespace, or of all if it is empty. They share
// memory with the cache: callers must not change them.
func ListActiveRuns(ctx context.Context, reader client.Reader, namespace string) ([]v1alpha1.PerfRun, error) {
	var active []v1alpha1.PerfRun
	for _, phase := range activePhases {
		runs := &v1alpha1.PerfRunList{}
		err := reader.List(ctx, runs, client.InNamespace(namespace), client.MatchingFields{FieldPhase: string(phase)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing active runs: %w", err)
		}
		for i := range runs.Items {
			if IsActive(&runs.Items[i]) {
				active = append(active, runs.Items[i])
			}
		}
	}
	return active, nil
}

// IsActive reports whether a run is unfinished and this cluster executes it. An imported run
// stays as it was recorded.
func IsActive(run *v1alpha1.PerfRun) bool {
	return !run.Status.Phase.IsFinal() && !provenance.IsImported(run)
}
