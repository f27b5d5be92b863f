// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/releases"
	"perflab.dev/perflab/internal/releases/regression"
	"perflab.dev/perflab/internal/runs/provenance"
)

// aboutHistory begins the warnings about what is kept for histories.
const aboutHistory = "the history in the cluster "

// lookBack keeps, once, what later experiments are compared with when this one is complete,
// and compares it with those before it. Killed between the two writes, the next pass reads
// what came out. The experiment goes on without a history; only a cluster that does not
// answer is an error, to be tried again.
func (r *Reconciler) lookBack(ctx context.Context, s *scope) error {
	reached, worth := s.stage()
	if !worth || s.experiment.Status.Phase != v1alpha1.ExperimentComplete || s.complete == 0 {
		return nil
	}
	if s.known.lookedBack == reached.digest {
		s.lookedBack, s.pastOf = reached.digest, s.known.pastOf
		return nil
	}
	kept, err := r.ownConfigMap(ctx, s.experiment, naming.History(s.experiment.Name))
	if err != nil {
		return fmt.Errorf("reading what is kept of the history: %w", err)
	}
	if kept == nil || kept.Annotations[v1alpha1.AnnotationHistoryOf] != reached.digest || !regression.IsOf(s.experiment, kept) {
		s.looked = true
		if kept, err = r.keepHistory(ctx, s, reached); err != nil {
			return r.withoutHistory(ctx, s, reached, err)
		}
	}
	if s.changes, err = regression.Changes(kept); err != nil {
		return r.withoutHistory(ctx, s, reached, err)
	}
	history, err := regression.History(kept)
	if err != nil {
		return r.withoutHistory(ctx, s, reached, err)
	}
	if history != nil {
		s.pastOf = naming.Hash(kept.Data)
	}
	measured, err := regression.Measured(kept, s.question.Primary)
	if err != nil {
		return r.withoutHistory(ctx, s, reached, err)
	}
	s.past, s.series, s.lookedBack = kept, regression.Series(&measured), reached.digest
	return nil
}

// hasLookedBack: what there is to keep of a complete experiment is kept, or can't be.
func (s *scope) hasLookedBack() bool {
	return s.lookedBack != "" || s.complete == 0 || s.experiment.Status.Phase != v1alpha1.ExperimentComplete
}

// errHistory says that there is no history to keep.
var errHistory = errors.New("taking what histories need")

// withoutHistory goes on, with a warning. A cluster that refuses may not do so for ever.
func (r *Reconciler) withoutHistory(ctx context.Context, s *scope, reached stage, err error) error {
	switch {
	case isRefused(err) && !tooLarge(err):
		s.again(component.RefusalRetryInterval)
	case isRefused(err), errors.Is(err, errHistory), errors.Is(err, regression.ErrKept):
		s.lookedBack = reached.digest
	default:
		return err
	}
	log.FromContext(ctx).Info("The history could not be kept", "error", err.Error())
	s.unkept = fmt.Sprintf("%sis not kept: %v; later experiments are not compared with this one", aboutHistory, err)
	return nil
}

// keepHistory takes what histories need of the experiment, sets it beside the earlier ones,
// and writes both down.
func (r *Reconciler) keepHistory(ctx context.Context, s *scope, reached stage) (*corev1.ConfigMap, error) {
	full, err := r.fullRuns(ctx, s)
	if err != nil {
		return nil, err
	}
	this, err := releases.Measure(releases.Record{Experiment: s.experiment, Runs: full})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHistory, err)
	}
	// Looking takes seconds, and what the runs gave is held by one pass at a time.
	r.letGo(s)
	earlier, err := r.earlier(ctx, s, &this)
	if err != nil {
		return nil, err
	}
	history, changes, err := regression.Look(this, earlier)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHistory, err)
	}
	kept, err := regression.Object(s.experiment, this, history, changes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHistory, err)
	}
	kept.Annotations[v1alpha1.AnnotationHistoryOf] = reached.digest
	return kept, r.Cluster.ApplyTyped(ctx, kept)
}

// mostRead bounds how many earlier experiments are read for a history.
const mostRead = 5 * regression.MostPoints

// earlier experiments of the namespace that declare one of the scenarios alike, the newest.
// Which there are is in their statuses, which only operators write, and each is read for
// itself: all of them at once would be a good part of the operator's memory.
func (r *Reconciler) earlier(ctx context.Context, s *scope, this *releases.Measured) ([]regression.Earlier, error) {
	candidates, err := r.candidates(ctx, s.experiment, regression.Series(this))
	if err != nil {
		return nil, err
	}
	var found []regression.Earlier
	for _, experiment := range candidates[:min(len(candidates), mostRead)] {
		one, err := r.earlierOne(ctx, this, experiment)
		switch {
		case errors.Is(err, regression.ErrKept):
			log.FromContext(ctx).Info("An earlier experiment is left out of the history", "experiment", experiment.Name, "error", err.Error())
			s.unkept = fmt.Sprintf("%sleaves an experiment out: %v", aboutHistory, err)
		case err != nil:
			return nil, err
		case one != nil:
			found = append(found, *one)
		}
		if len(found) == regression.MostPoints {
			break
		}
	}
	return found, nil
}

// candidates are the experiments that may have kept a series, the newest first. They are the
// cache's own.
func (r *Reconciler) candidates(ctx context.Context, of *v1alpha1.PerfExperiment, series []string) ([]*v1alpha1.PerfExperiment, error) {
	all := &v1alpha1.PerfExperimentList{}
	if err := r.Cluster.Client.List(ctx, all, client.InNamespace(of.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("looking for earlier experiments: %w", err)
	}
	var found []*v1alpha1.PerfExperiment
	for i := range all.Items {
		if one := &all.Items[i]; one.UID != of.UID && !provenance.IsImported(one) && regression.MayKeep(one, series) {
			found = append(found, one)
		}
	}
	slices.SortFunc(found, func(a, b *v1alpha1.PerfExperiment) int {
		return cmp.Or(startOf(b).Compare(startOf(a)), cmp.Compare(a.Name, b.Name))
	})
	return found, nil
}

func startOf(experiment *v1alpha1.PerfExperiment) time.Time {
	return ptr.Deref(experiment.Status.StartTime, metav1.Time{}).Time
}

// earlierOne reads what is kept of an experiment; nil: nothing of these scenarios. It fails
// with [past.ErrKept] where that is not what its status says.
func (r *Reconciler) earlierOne(ctx context.Context, this *releases.Measured, experiment *v1alpha1.PerfExperiment) (*regression.Earlier, error) {
	kept := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: this.Namespace, Name: naming.History(experiment.Name)}, kept)
	switch {
	case apierrors.IsNotFound(err) && experiment.Status.HistoryDigest == "":
		return nil, nil //nolint:nilnil // Operators of earlier versions kept nothing.
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: ConfigMap %q is gone", regression.ErrKept, naming.History(experiment.Name))
	case err != nil:
		return nil, fmt.Errorf("reading what is kept of an earlier experiment: %w", err)
	case !regression.IsOf(experiment, kept):
		return nil, fmt.Errorf("%w: ConfigMap %q is not as the operator wrote it", regression.ErrKept, kept.Name)
	}
	measured, err := regression.Measured(kept, this.Question.Primary)
	if err != nil {
		return nil, err
	}
	if !regression.Share(regression.Series(this), regression.Series(&measured)) {
		return nil, nil //nolint:nilnil // It has measured something else.
	}
	told, err := regression.Changes(kept)
	if err != nil {
		return nil, err
	}
	// People may name a release afterwards.
	measured.Release = releases.NameOf(experiment)
	return &regression.Earlier{Measured: measured, Told: told}, nil
}

// keptHistory is what is kept of the experiment, as it is now, for histories; nil: nothing is.
func (r *Reconciler) keptHistory(ctx context.Context, s *scope) (*corev1.ConfigMap, error) {
	if s.past != nil || s.lookedBack == "" {
		return s.past, nil
	}
	kept, err := r.ownConfigMap(ctx, s.experiment, naming.History(s.experiment.Name))
	if err != nil || kept == nil || kept.Annotations[v1alpha1.AnnotationHistoryOf] != s.lookedBack || !regression.IsOf(s.experiment, kept) {
		return nil, err
	}
	return kept, nil
}

// reportPast names the changes that were found, and what keeps a history from being kept.
// What an earlier pass said of it stays until somebody looks again.
func reportPast(s *scope) {
	status := &s.experiment.Status
	if s.looked || s.unkept != "" {
		status.Warnings = slices.DeleteFunc(slices.Clone(status.Warnings), isAboutHistory)
	}
	if s.past != nil {
		status.Changes, status.HistoryDigest, status.HistorySeries = s.changes, regression.Digest(s.past), s.series
	}
	if s.unkept != "" {
		status.Warnings = boundedWarnings(append(status.Warnings, s.unkept))
	}
}

func isAboutHistory(warning string) bool { return strings.HasPrefix(warning, aboutHistory) }
