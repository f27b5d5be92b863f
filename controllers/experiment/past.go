// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/origin"
	"perflab.dev/perflab/internal/past"
	"perflab.dev/perflab/internal/releases"
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
	if kept == nil || kept.Annotations[v1alpha1.AnnotationHistoryOf] != reached.digest || !past.IsOf(s.experiment, kept) {
		s.looked = true
		if kept, err = r.keepHistory(ctx, s, reached); err != nil {
			return r.withoutHistory(ctx, s, reached, err)
		}
	}
	if s.changes, err = past.Changes(kept); err != nil {
		return r.withoutHistory(ctx, s, reached, err)
	}
	history, err := past.History(kept)
	if err != nil {
		return r.withoutHistory(ctx, s, reached, err)
	}
	if history != nil {
		s.pastOf = naming.Hash(kept.Data)
	}
	s.past, s.lookedBack = kept, reached.digest
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
		s.again(component.RefusedPause)
	case isRefused(err), errors.Is(err, errHistory), errors.Is(err, past.ErrKept):
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
	history, changes, err := past.Look(this, earlier)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHistory, err)
	}
	kept, err := past.Object(s.experiment, this, history, changes)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHistory, err)
	}
	kept.Annotations[v1alpha1.AnnotationHistoryOf] = reached.digest
	return kept, r.Cluster.ApplyTyped(ctx, kept)
}

// historyPages bound how many names are asked for.
const historyPages = 10

// earlier experiments of the namespace that declare one of the scenarios alike, the newest.
// Which there are is asked by name, and each is read for itself: all of them at once would
// be a good part of the operator's memory.
func (r *Reconciler) earlier(ctx context.Context, s *scope, this *releases.Measured) ([]past.Earlier, error) {
	began := map[string]string{}
	for i := range this.Scenarios {
		if err := r.earlierOf(ctx, this, past.Selector(&this.Scenarios[i].Declared), began); err != nil {
			return nil, err
		}
	}
	names := make([]string, 0, len(began))
	for name := range began {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(began[b], began[a]), cmp.Compare(a, b)) })
	var found []past.Earlier
	for _, name := range names[:min(len(names), past.MostPoints)] {
		one, err := r.earlierOne(ctx, this, name)
		switch {
		case errors.Is(err, past.ErrKept):
			log.FromContext(ctx).Info("An earlier experiment is left out of the history", "configMap", name, "error", err.Error())
			s.unkept = fmt.Sprintf("%sleaves an experiment out: %v", aboutHistory, err)
		case err != nil:
			return nil, err
		case one != nil:
			found = append(found, *one)
		}
	}
	return found, nil
}

// earlierOf notes when those began that declare a scenario alike.
func (r *Reconciler) earlierOf(ctx context.Context, this *releases.Measured, selector string, began map[string]string) error {
	pages := 0
	err := r.configMaps(ctx, this.Namespace, client.HasLabels{selector}, func(page *metav1.PartialObjectMetadataList) error {
		for i := range page.Items {
			began[page.Items[i].Name] = page.Items[i].Annotations[v1alpha1.AnnotationBegan]
		}
		if pages++; pages == historyPages {
			return kube.ErrEnough
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking for earlier experiments: %w", err)
	}
	return nil
}

// earlierOne reads what is kept of an experiment; nil: it has gone meanwhile. It fails with
// [past.ErrKept] where no experiment of the namespace vouches for it.
func (r *Reconciler) earlierOne(ctx context.Context, this *releases.Measured, name string) (*past.Earlier, error) {
	kept := &corev1.ConfigMap{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: this.Namespace, Name: name}, kept)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // It has gone meanwhile, which is no error.
	}
	if err != nil {
		return nil, fmt.Errorf("reading what is kept of an earlier experiment: %w", err)
	}
	experiment, err := r.keeper(ctx, kept)
	if err != nil {
		return nil, err
	}
	measured, err := past.Measured(kept, this.Question.Primary)
	if err != nil {
		return nil, err
	}
	told, err := past.Changes(kept)
	if err != nil {
		return nil, err
	}
	// People may name a release afterwards.
	measured.Release = releases.NameOf(experiment)
	return &past.Earlier{Measured: measured, Told: told}, nil
}

// keeper is the experiment of which a ConfigMap keeps what was measured.
func (r *Reconciler) keeper(ctx context.Context, kept *corev1.ConfigMap) (*v1alpha1.PerfExperiment, error) {
	experiment, owner := &v1alpha1.PerfExperiment{}, metav1.GetControllerOf(kept)
	if owner == nil || kept.Name != naming.History(owner.Name) {
		return nil, fmt.Errorf("%w: ConfigMap %q belongs to no experiment", past.ErrKept, kept.Name)
	}
	err := r.Cluster.Client.Get(ctx, client.ObjectKey{Namespace: kept.Namespace, Name: owner.Name}, experiment, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("%w: ConfigMap %q belongs to no experiment", past.ErrKept, kept.Name)
	case err != nil:
		return nil, fmt.Errorf("reading experiment %q: %w", owner.Name, err)
	case origin.IsImported(experiment), !past.IsOf(experiment, kept):
		return nil, fmt.Errorf("%w: ConfigMap %q is not as the operator wrote it", past.ErrKept, kept.Name)
	}
	return experiment, nil
}

// keptHistory is what is kept of the experiment, as it is now, for histories; nil: nothing is.
func (r *Reconciler) keptHistory(ctx context.Context, s *scope) (*corev1.ConfigMap, error) {
	if s.past != nil || s.lookedBack == "" {
		return s.past, nil
	}
	kept, err := r.ownConfigMap(ctx, s.experiment, naming.History(s.experiment.Name))
	if err != nil || kept == nil || kept.Annotations[v1alpha1.AnnotationHistoryOf] != s.lookedBack || !past.IsOf(s.experiment, kept) {
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
		status.Changes, status.HistoryDigest = s.changes, past.Digest(s.past)
	}
	if s.unkept != "" {
		status.Warnings = boundedWarnings(append(status.Warnings, s.unkept))
	}
}

func isAboutHistory(warning string) bool { return strings.HasPrefix(warning, aboutHistory) }
