// SPDX-License-Identifier: Apache-2.0

// Package retention prunes the records of complete experiments after the time that the experiment
// or the installation sets.
package retention

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// Policy is how long the records of complete experiments stay in the cluster, unless an experiment
// sets it. Zero: until the experiment is deleted.
type Policy struct {
	RawResults, Runs time.Duration
	// RunsOf is the number of runs that stay in a namespace, those of the last completed
	// experiments; nil: all.
	RunsOf *int32
	// RawResultsOf is the number of newest runs whose raw results stay; nil: all.
	RawResultsOf *int32
}

// Pruner prunes the records of experiments.
type Pruner struct {
	*component.Tools
	Policy Policy

	crowds crowds
}

// Subject is an experiment with its runs as one reconcile sees them.
type Subject struct {
	Experiment *v1alpha1.PerfExperiment
	Runs       []v1alpha1.PerfRun
	Now        time.Time
	// HasEnvironment: there is an environment that is still to be deleted. Nothing is pruned
	// before.
	HasEnvironment bool
}

// kept is what stays of a complete experiment.
type kept struct {
	// rawResults is the number of newest runs whose raw results stay.
	rawResults int32
	// runs stay.
	runs bool
	// until is the time until less may stay; zero: forever.
	until time.Duration
}

// Due reports whether something is to be pruned now, or else after which time; zero: never.
func (p *Pruner) Due(ctx context.Context, s Subject) (isDue bool, after time.Duration, err error) {
	keep, err := p.keeps(ctx, s)
	return err == nil && s.hasOutlived(keep), keep.until, err
}

func (p *Pruner) keeps(ctx context.Context, s Subject) (kept, error) {
	isExcess, err := p.isExcess(ctx, s.Experiment)
	keep := s.allotted(p.Policy)
	keep.runs = keep.runs && !isExcess
	return keep, err
}

// allotted returns what stays regardless of other experiments.
func (s Subject) allotted(standard Policy) kept {
	declared := s.Experiment.Spec.RetentionOrDefault()
	age := time.Duration(0)
	if completed := s.Experiment.Status.CompletionTime; completed != nil {
		age = s.Now.Sub(completed.Time)
	}
	keep := kept{rawResults: int32(len(s.Runs)), runs: true} //nolint:gosec // An experiment has at most 25,600 runs, and some attempts.
	if of := cmp.Or(declared.RawResultsOf, standard.RawResultsOf); of != nil {
		keep.rawResults = min(keep.rawResults, *of)
	}
	if keep.outlived(age, declared.RawResults, standard.RawResults) {
		keep.rawResults = 0
	}
	keep.runs = !keep.outlived(age, declared.Runs, standard.Runs)
	return keep
}

// outlived reports whether something is older than the experiment's limit, or else the
// installation's; otherwise it records when it will be.
func (k *kept) outlived(age time.Duration, declared *metav1.Duration, standard time.Duration) bool {
	life := standard
	switch {
	case declared != nil:
		life = declared.Duration
	case standard == 0:
		return false
	}
	left := life - age
	if left > 0 {
		k.until = component.MinRequeueAfter(k.until, left)
	}
	return left <= 0
}

// hasOutlived reports whether there is more than may stay.
func (s Subject) hasOutlived(keep kept) bool {
	if s.HasEnvironment {
		return false
	}
	left := ptr.Deref(s.Experiment.Status.History, v1alpha1.HistoryStatus{})
	return !keep.runs || keep.rawResults < int32(len(s.Runs)) && (left.RawResultsOf == nil || *left.RawResultsOf > keep.rawResults) //nolint:gosec // As above.
}

// Prune deletes what may not stay, and returns the time until the next call.
func (p *Pruner) Prune(ctx context.Context, s Subject) (after time.Duration, err error) {
	keep, err := p.keeps(ctx, s)
	if err != nil || !s.hasOutlived(keep) {
		return keep.until, err
	}
	status, left := &s.Experiment.Status, &v1alpha1.HistoryStatus{}
	if status.History != nil {
		left = status.History.DeepCopy()
	}
	if !keep.runs {
		// Written first: without its runs the experiment would seem not to have started.
		left.Runs = &metav1.Time{Time: s.Now}
		status.History = left
		return time.Second, nil
	}
	if err := p.pruneRaw(ctx, s.Runs, int(keep.rawResults)); err != nil {
		return keep.until, err
	}
	left.RawResultsOf = ptr.To(keep.rawResults)
	status.History = left
	return keep.until, nil
}

// pruneRaw deletes the raw results of all runs but the newest.
func (p *Pruner) pruneRaw(ctx context.Context, runs []v1alpha1.PerfRun, but int) error {
	runs = slices.Clone(runs)
	slices.SortFunc(runs, func(a, b v1alpha1.PerfRun) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	for i := but; i < len(runs); i++ {
		for _, name := range []string{naming.RawResults(runs[i].Name), naming.RawSamples(runs[i].Name)} {
			raw := &metav1.PartialObjectMetadata{}
			raw.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			err := p.Live.Get(ctx, client.ObjectKey{Namespace: runs[i].Namespace, Name: name}, raw)
			if err == nil {
				err = p.Cluster.Delete(ctx, &runs[i], raw)
			}
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("deleting the raw results of run %q: %w", runs[i].Name, err)
			}
		}
	}
	return nil
}

// IsRetired reports whether the runs of the experiment are pruned, or about to be. Their results
// are in its status and its report.
func IsRetired(experiment *v1alpha1.PerfExperiment) bool {
	left := experiment.Status.History
	return left != nil && left.Runs != nil && experiment.DeletionTimestamp == nil
}

// Retire deletes the runs of a retired experiment.
func (p *Pruner) Retire(ctx context.Context, experiment *v1alpha1.PerfExperiment) error {
	runs, err := kubecache.ListRuns(ctx, p.Cluster.Client, experiment.Namespace, experiment.Name)
	if err != nil {
		return err
	}
	own, _ := runfilter.Owned(experiment, runs)
	for i := range own {
		if err := p.Cluster.Delete(ctx, experiment, &own[i]); err != nil {
			return err
		}
	}
	return nil
}
