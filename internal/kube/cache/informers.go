// SPDX-License-Identifier: Apache-2.0

package cache

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"unique"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/runs/provenance"
)

// Fields by which runs can be chosen: the API server selects by them, and the
// cache is indexed by them.
const (
	FieldExperiment = "spec.experiment"
	FieldPhase      = "status.phase"
)

// NewOptions says what the operator's cache holds of a namespace, or of all. What is
// done and what is not ours costs next to nothing. The tickets of experiments are in the
// namespace lanes.
func NewOptions(config *rest.Config, namespace, lanes string) (cache.Options, error) {
	server, err := NewRESTClient(config)
	if err != nil {
		return cache.Options{}, err
	}
	return cache.Options{
		DefaultNamespaces: Namespaces(namespace),
		ByObject:          tickets(lanes),
		DefaultTransform:  StripTransform(),
		NewInformer:       NewInformer(server, namespace),
	}, nil
}

// Namespaces are those whose objects the operator keeps in mind: one, or all where it has
// no name.
func Namespaces(name string) map[string]cache.Config {
	if name == "" {
		return nil
	}
	return map[string]cache.Config{name: {}}
}

// tickets are the Leases in which experiments wait for their turns, in the namespace lanes;
// without one there are none.
func tickets(lanes string) map[client.Object]cache.ByObject {
	if lanes == "" {
		return nil
	}
	return map[client.Object]cache.ByObject{
		&coordinationv1.Lease{}: {Namespaces: map[string]cache.Config{lanes: {LabelSelector: has(v1alpha1.LabelTurn)}}},
	}
}

// NewObject is an object of a kind to watch, which is read as kinds of other operators
// are: the cache would hold a second copy of each as a Go type.
func NewObject(kind schema.GroupVersionKind) client.Object {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// stripped is what is kept in mind of an object, which is never who manages what.
func stripped[T client.Object](object T, strip func(T) T) T {
	kept := strip(object)
	kept.SetManagedFields(nil)
	return kept
}

// IndexRuns lets the cache find runs by their fields without looking at all.
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

// IsStrippedExperiment tells the experiments of which the cache holds an outline alone: those with
// which nothing is left to do, and records of what was measured elsewhere. There may be
// thousands, for years.
func IsStrippedExperiment(experiment *v1alpha1.PerfExperiment) bool {
	return experiment.Status.Settled != "" || provenance.IsImported(experiment)
}

// StripExperiment is what the cache keeps of an experiment: all of one that is running, and of a
// settled one neither its system nor its results. A reconcile that continues with it reads it
// from the API server.
func StripExperiment(experiment *v1alpha1.PerfExperiment) *v1alpha1.PerfExperiment {
	if !IsStrippedExperiment(experiment) {
		return experiment
	}
	outline := *experiment
	status := &outline.Status
	status.Results, status.Comparisons, status.Pairs, status.Slowdowns, status.Effects = nil, nil, nil, nil, nil
	status.InvalidRuns, status.Warnings, status.Deletions = nil, nil, nil
	spec := &outline.Spec
	spec.System, spec.Arms, spec.Matrix, spec.Scenarios, spec.Notes = v1alpha1.System{}, nil, nil, nil, nil
	spec.Measurement, spec.Restore = v1alpha1.Measurement{}, nil
	return &outline
}

// isStrippedRun tells the runs of which the cache holds a summary alone. What is imported
// never goes on, and nothing bounds what its spec takes when it is decoded.
func isStrippedRun(run *v1alpha1.PerfRun) bool {
	return run.Status.Phase.IsFinal() || provenance.IsImported(run)
}

// StripRun is what of a run is kept in mind: all of one that is on, and of one that
// is over, or imported, what it takes to count it. What it gave is read from the API server
// when an answer is worked out.
func StripRun(run *v1alpha1.PerfRun) *v1alpha1.PerfRun {
	if !isStrippedRun(run) {
		return run
	}
	summary := &v1alpha1.PerfRun{ObjectMeta: inFamily(run.ObjectMeta)}
	spec := &run.Spec
	summary.Spec = v1alpha1.PerfRunSpec{
		Experiment: shared(spec.Experiment), PlanHash: shared(spec.PlanHash),
		Block: spec.Block, Position: spec.Position, Attempt: spec.Attempt, Arm: shared(spec.Arm),
		Scenario:           v1alpha1.Scenario{Name: shared(spec.Scenario.Name)},
		ServiceAccountName: shared(spec.ServiceAccountName),
	}
	for i := range spec.Scenario.Loads {
		// The runs after it must put the same scripts on.
		if wanted := &spec.Scenario.Loads[i]; wanted.Script != nil {
			summary.Spec.Scenario.Loads = append(summary.Spec.Scenario.Loads, v1alpha1.Load{Name: shared(wanted.Name), Script: wanted.Script})
		}
	}
	if brokers := spec.System.Kafka; brokers != nil && kafka.IsExternal(brokers) {
		// Topics that were made there are deleted with the experiment.
		summary.Spec.System.Kafka = &v1alpha1.Kafka{Provider: brokers.Provider, External: brokers.External}
	}
	status := &run.Status
	summary.Status = v1alpha1.PerfRunStatus{Phase: shared(status.Phase), Message: shared(status.Message), Timings: status.Timings}
	for i := range status.Conditions {
		if valid := status.Conditions[i]; valid.Type == v1alpha1.ConditionValid {
			valid.Type, valid.Status, valid.Reason, valid.Message = shared(valid.Type), shared(valid.Status), shared(valid.Reason), shared(valid.Message)
			summary.Status.Conditions = []metav1.Condition{valid}
		}
	}
	for i := range status.Loads {
		known := &status.Loads[i]
		summary.Status.Loads = append(summary.Status.Loads, v1alpha1.LoadStatus{
			Name: shared(known.Name), TestRun: known.TestRun, ExitCode: known.ExitCode, Script: known.Script,
		})
	}
	return summary
}

// shared is the text, of which all objects that have it keep one copy: what was decoded
// has one for each. They were a sixth of what the cache held of a run (BenchmarkSummaries).
func shared[T ~string](text T) T { return T(unique.Make(string(text)).Value()) }

// family is what the runs of an experiment have in common: whose they are.
type family struct {
	labels map[string]string
	owners []metav1.OwnerReference
}

// lastFamily is that of the run which was summarised last. Lists are in the order of names,
// in which the runs of an experiment follow each other.
var lastFamily atomic.Pointer[family]

// inFamily keeps of a run's metadata whose it is once for all that follow each other, and
// no other label: they say again what the spec says.
func inFamily(meta metav1.ObjectMeta) metav1.ObjectMeta {
	own := &family{owners: meta.OwnerReferences}
	if label, labelled := meta.Labels[v1alpha1.LabelExperiment]; labelled {
		own.labels = map[string]string{v1alpha1.LabelExperiment: shared(label)}
	}
	if last := lastFamily.Load(); last != nil && maps.Equal(last.labels, own.labels) && equality.Semantic.DeepEqual(last.owners, own.owners) {
		own = last
	} else {
		lastFamily.Store(own)
	}
	meta.Namespace, meta.Labels, meta.OwnerReferences = shared(meta.Namespace), own.labels, own.owners
	return meta
}

// ListRuns are the runs that name an experiment by their spec, as the reader knows
// them. Options say how they are read.
func ListRuns(ctx context.Context, reader client.Reader, namespace, experiment string, options ...client.ListOption) ([]v1alpha1.PerfRun, error) {
	runs := &v1alpha1.PerfRunList{}
	options = append(options, client.InNamespace(namespace), client.MatchingFields{FieldExperiment: experiment})
	err := reader.List(ctx, runs, options...)
	if err != nil {
		return nil, fmt.Errorf("listing the runs of experiment %q: %w", experiment, err)
	}
	return runs.Items, nil
}

// unfinished are the phases of a run that is on.
var unfinished = []v1alpha1.RunPhase{"", v1alpha1.RunPending, v1alpha1.RunProvisioning, v1alpha1.RunLoading, v1alpha1.RunCollecting}

// ListActiveRuns are the runs of a namespace that are on, as the reader knows them. They
// are the cache's own, not to be changed.
func ListActiveRuns(ctx context.Context, reader client.Reader, namespace string) ([]v1alpha1.PerfRun, error) {
	var on []v1alpha1.PerfRun
	for _, phase := range unfinished {
		runs := &v1alpha1.PerfRunList{}
		err := reader.List(ctx, runs, client.InNamespace(namespace), client.MatchingFields{FieldPhase: string(phase)}, client.UnsafeDisableDeepCopy)
		if err != nil {
			return nil, fmt.Errorf("listing the runs that are on: %w", err)
		}
		for i := range runs.Items {
			if IsActive(&runs.Items[i]) {
				on = append(on, runs.Items[i])
			}
		}
	}
	return on, nil
}

// IsActive tells a run that has not ended yet, and will here. An imported one that
// had not ended when it was written down never goes on.
func IsActive(run *v1alpha1.PerfRun) bool {
	return !run.Status.Phase.IsFinal() && !provenance.IsImported(run)
}
