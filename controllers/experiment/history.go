// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/runs/runfilter"
)

// History is how long what complete experiments gave stays in the cluster, where they
// don't say so themselves. Zero: until they are deleted.
type History struct {
	RawResults, Runs time.Duration
	// RunsOf is the number of runs, those of the experiments that were completed last, that
	// stay in a namespace; nil: all.
	RunsOf *int32
	// RawResultsOf is the number of runs, the newest, whose raw results stay; nil: of all.
	RawResultsOf *int32
}

// kept is what is to be left of what a complete experiment gave.
type kept struct {
	// rawResults is the number of runs, the newest, whose raw results stay.
	rawResults int32
	// runs stay.
	runs bool
	// until is the time until less is to be left; zero: for ever.
	until time.Duration
}

// keeps says what is to be left of what the experiment gave.
func (r *Reconciler) keeps(ctx context.Context, s *scope) (kept, error) {
	crowdedOut, err := r.isCrowdedOut(ctx, s.experiment)
	keep := s.allotted(r.History)
	keep.runs = keep.runs && !crowdedOut
	return keep, err
}

// allotted is what is to be left whatever others gave.
func (s *scope) allotted(standard History) kept {
	asked := ptr.Deref(s.experiment.Spec.History, v1alpha1.History{})
	age := time.Duration(0)
	if completed := s.experiment.Status.CompletionTime; completed != nil {
		age = s.now.Sub(completed.Time)
	}
	keep := kept{rawResults: int32(len(s.runs)), runs: true} //nolint:gosec // An experiment has at most 25,600 runs, and some attempts.
	if of := cmp.Or(asked.RawResultsOf, standard.RawResultsOf); of != nil {
		keep.rawResults = min(keep.rawResults, *of)
	}
	if keep.outlived(age, asked.RawResults, standard.RawResults) {
		keep.rawResults = 0
	}
	keep.runs = !keep.outlived(age, asked.Runs, standard.Runs)
	return keep
}

// outlived reports whether something is older than asked for or, where nothing is asked
// for, than the standard; else it notes when it will be.
func (k *kept) outlived(age time.Duration, asked *metav1.Duration, standard time.Duration) bool {
	life := standard
	switch {
	case asked != nil:
		life = asked.Duration
	case standard == 0:
		return false
	}
	left := life - age
	if left > 0 {
		k.until = component.MinRequeueAfter(k.until, left)
	}
	return left <= 0
}

// hasOutlived reports whether less is to be left than is. Nothing goes while the environment
// stands that is to be taken down.
func (s *scope) hasOutlived(keep kept) bool {
	if s.stands() {
		return false
	}
	left := ptr.Deref(s.experiment.Status.History, v1alpha1.HistoryStatus{})
	return !keep.runs || keep.rawResults < int32(len(s.runs)) && (left.RawResultsOf == nil || *left.RawResultsOf > keep.rawResults) //nolint:gosec // As above.
}

// prune takes away what is not to be left of what a complete experiment gave, once
// its report is stored.
func (r *Reconciler) prune(ctx context.Context, s *scope) error {
	status := &s.experiment.Status
	if status.Settled == "" || status.Settled != s.seen {
		return nil
	}
	keep, err := r.keeps(ctx, s)
	if err != nil {
		return err
	}
	if keep.until > 0 {
		s.again(keep.until)
	}
	if !s.hasOutlived(keep) {
		return nil
	}
	left := &v1alpha1.HistoryStatus{}
	if status.History != nil {
		left = status.History.DeepCopy()
	}
	if !keep.runs {
		// Noted first: without its runs the experiment would look as if it had none yet.
		left.Runs = &metav1.Time{Time: s.now}
		status.History = left
		s.again(time.Second)
		return nil
	}
	if err := r.pruneRaw(ctx, s, int(keep.rawResults)); err != nil {
		return err
	}
	left.RawResultsOf = ptr.To(keep.rawResults)
	status.History = left
	return nil
}

// pruneRaw takes the raw results of all runs away but the newest.
func (r *Reconciler) pruneRaw(ctx context.Context, s *scope, but int) error {
	runs := slices.Clone(s.runs)
	slices.SortFunc(runs, func(a, b v1alpha1.PerfRun) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	for i := but; i < len(runs); i++ {
		for _, name := range []string{naming.RawResults(runs[i].Name), naming.RawSamples(runs[i].Name)} {
			raw := &metav1.PartialObjectMetadata{}
			raw.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
			err := r.Live.Get(ctx, client.ObjectKey{Namespace: runs[i].Namespace, Name: name}, raw)
			if err == nil {
				err = r.Cluster.Delete(ctx, &runs[i], raw)
			}
			if client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("taking away the raw results of run %q: %w", runs[i].Name, err)
			}
		}
	}
	return nil
}

// isRetired: the runs of the experiment are being, or were, taken away. What they
// said stands in its status and in its report.
func isRetired(experiment *v1alpha1.PerfExperiment) bool {
	left := experiment.Status.History
	return left != nil && left.Runs != nil && experiment.DeletionTimestamp == nil
}

// retire takes the runs of an experiment away, and goes on for nothing else.
func (r *Reconciler) retire(ctx context.Context, experiment *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	runs, err := kubecache.ListRuns(ctx, r.Cluster.Client, experiment.Namespace, experiment.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	own, _ := runfilter.Owned(experiment, runs)
	for i := range own {
		if err := r.Cluster.Delete(ctx, experiment, &own[i]); err != nil {
			return ctrl.Result{}, err
		}
	}
	if experiment.Status.ObservedGeneration == experiment.Generation {
		return ctrl.Result{}, nil
	}
	seen := experiment.DeepCopy()
	seen.Status.ObservedGeneration = experiment.Generation
	return ctrl.Result{}, r.writeStatus(ctx, experiment, &scope{experiment: seen})
}
