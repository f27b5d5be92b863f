// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"maps"
	"sync/atomic"
	"unique"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/runs/provenance"
)

// IsStrippedExperiment reports whether the cache holds the experiment stripped because it
// is settled or imported: a cluster may keep thousands of these for years.
func IsStrippedExperiment(experiment *v1alpha1.PerfExperiment) bool {
	return experiment.Status.Settled != "" || provenance.IsImported(experiment)
}

// StripExperiment returns the cached form of an experiment: an active one whole, and others
// without the system and the results. A reconcile that needs them reads the experiment
// from the API server.
func StripExperiment(experiment *v1alpha1.PerfExperiment) *v1alpha1.PerfExperiment {
	if !IsStrippedExperiment(experiment) {
		return experiment
	}
	stripped := *experiment
	status := &stripped.Status
	status.Results, status.Capacities, status.Comparisons, status.Pairs, status.Slowdowns, status.Effects = nil, nil, nil, nil, nil, nil
	status.InvalidRuns, status.Warnings, status.DesignWarnings, status.Truncated, status.Deletions = nil, nil, nil, "", nil
	spec := &stripped.Spec
	spec.System, spec.Arms, spec.Matrix, spec.Scenarios, spec.Notes = v1alpha1.System{}, nil, nil, nil, nil
	spec.Measurement, spec.Restore = v1alpha1.Measurement{}, nil
	return &stripped
}

// isStrippedRun reports whether the cache holds the run stripped. An imported run never
// starts, and nothing bounds the decoded size of its spec.
func isStrippedRun(run *v1alpha1.PerfRun) bool {
	return run.Status.Phase.IsFinal() || provenance.IsImported(run)
}

// StripRun returns the cached form of a run: an active one whole, and of others the fields that
// planning the next run needs. The analysis reads observations from the API server.
func StripRun(run *v1alpha1.PerfRun) *v1alpha1.PerfRun {
	if !isStrippedRun(run) {
		return run
	}
	stripped := &v1alpha1.PerfRun{ObjectMeta: stripRunMeta(run.ObjectMeta), Spec: stripRunSpec(&run.Spec)}
	status := &run.Status
	stripped.Status = v1alpha1.PerfRunStatus{Phase: intern(status.Phase), Message: intern(status.Message), Timings: status.Timings}
	if found := status.Capacity; found != nil {
		// The levels of later runs depend on it.
		stripped.Status.Capacity = &v1alpha1.RunCapacity{Side: found.Side, Value: found.Value, Low: found.Low, High: found.High, Coarse: found.Coarse}
	}
	for i := range status.Conditions {
		if valid := status.Conditions[i]; valid.Type == v1alpha1.ConditionValid {
			valid.Type, valid.Status, valid.Reason, valid.Message = intern(valid.Type), intern(valid.Status), intern(valid.Reason), intern(valid.Message)
			stripped.Status.Conditions = []metav1.Condition{valid}
		}
	}
	for i := range status.Loads {
		load := &status.Loads[i]
		stripped.Status.Loads = append(stripped.Status.Loads, v1alpha1.LoadStatus{
			Name: intern(load.Name), TestRun: load.TestRun, ExitCode: load.ExitCode, Script: load.Script,
		})
	}
	return stripped
}

func stripRunSpec(spec *v1alpha1.PerfRunSpec) v1alpha1.PerfRunSpec {
	stripped := v1alpha1.PerfRunSpec{
		Experiment: intern(spec.Experiment), PlanHash: intern(spec.PlanHash),
		Block: spec.Block, Position: spec.Position, Attempt: spec.Attempt, Arm: intern(spec.Arm),
		Scenario:           v1alpha1.Scenario{Name: intern(spec.Scenario.Name)},
		ServiceAccountName: intern(spec.ServiceAccountName),
	}
	for i := range spec.Scenario.Loads {
		// Later runs must use the same scripts.
		if load := &spec.Scenario.Loads[i]; load.Script != nil {
			stripped.Scenario.Loads = append(stripped.Scenario.Loads, v1alpha1.Load{Name: intern(load.Name), Script: load.Script})
		}
	}
	if brokers := spec.System.Kafka; brokers != nil && brokers.Provider == v1alpha1.KafkaProviderExternal {
		// Teardown deletes the topics in these brokers.
		stripped.System.Kafka = &v1alpha1.Kafka{Provider: brokers.Provider, External: brokers.External}
	}
	return stripped
}

// intern returns the copy of a text that all objects share: decoding makes one for each
// object. The copies were a sixth of a cached run (BenchmarkStrippedRuns).
func intern[T ~string](text T) T { return T(unique.Make(string(text)).Value()) }

// runOwner is the metadata that the runs of an experiment share.
type runOwner struct {
	labels     map[string]string
	references []metav1.OwnerReference
}

// lastRunOwner is that of the run that was stripped last. Lists are sorted by name, so the
// runs of an experiment are adjacent.
var lastRunOwner atomic.Pointer[runOwner]

// stripRunMeta keeps the owner of a run, shared with the runs before it, and only the
// experiment's label: the others repeat the spec.
func stripRunMeta(meta metav1.ObjectMeta) metav1.ObjectMeta {
	owner := &runOwner{references: meta.OwnerReferences}
	if label, labelled := meta.Labels[v1alpha1.LabelExperiment]; labelled {
		owner.labels = map[string]string{v1alpha1.LabelExperiment: intern(label)}
	}
	if last := lastRunOwner.Load(); last != nil && maps.Equal(last.labels, owner.labels) && equality.Semantic.DeepEqual(last.references, owner.references) {
		owner = last
	} else {
		lastRunOwner.Store(owner)
	}
	meta.Namespace, meta.Labels, meta.OwnerReferences = intern(meta.Namespace), owner.labels, owner.references
	return meta
}
