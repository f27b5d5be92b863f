// SPDX-License-Identifier: Apache-2.0

// Package announcer sends the announcements of complete and stalled experiments to the sinks of
// the installation.
package announcer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/publish/announcement"
	"perflab.dev/perflab/internal/publish/sinks"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/text/prose"
)

// Reconciler sends announcements. It has workers of its own, so that a sink that is slow or
// unavailable keeps no experiment waiting. What is to be sent, and what was, is in the
// experiment's status: an operator that is killed between the two sends the same again, which
// receivers recognize by its ID.
type Reconciler struct {
	component.Tools
	Now func() time.Time
}

// workers is the number of experiments that are announced at once.
const workers = 4

// SetupWithManager lets the manager run it, woken by experiments with something to tell.
func (a *Reconciler) SetupWithManager(manager ctrl.Manager) error {
	options := component.ControllerOptions()
	options.MaxConcurrentReconciles = workers
	err := ctrl.NewControllerManagedBy(manager).
		Named("announcer").
		For(&v1alpha1.PerfExperiment{}, builder.WithPredicates(news())).
		WithOptions(options).
		WithLogConstructor(component.LogConstructor("experiment", manager.GetLogger().WithName("announcer"))).
		Complete(a)
	if err != nil {
		return fmt.Errorf("setting up the announcer of experiments: %w", err)
	}
	return nil
}

// news wake the announcer: when there is something new to tell, and when it has just been
// started and something is left.
func news() predicate.Funcs {
	return predicate.Funcs{
		CreateFunc:  func(seen event.CreateEvent) bool { return hasNews(seen.Object) },
		UpdateFunc:  func(seen event.UpdateEvent) bool { return hasNews(seen.ObjectNew) && !hasSame(seen) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// hasNews tells experiments of which a sink is still to be told.
func hasNews(object client.Object) bool {
	experiment, is := object.(*v1alpha1.PerfExperiment)
	if !is || provenance.IsImported(experiment) || experiment.Status.Announcement == nil || experiment.DeletionTimestamp != nil {
		return false
	}
	told := meta.FindStatusCondition(experiment.Status.Conditions, v1alpha1.ConditionAnnounced)
	return told != nil && told.Status != metav1.ConditionTrue && told.Reason != v1alpha1.ReasonSinkGivenUp
}

// hasSame: what is to be told was to be told before, and a pass is due for it.
func hasSame(seen event.UpdateEvent) bool {
	before, is := seen.ObjectOld.(*v1alpha1.PerfExperiment)
	after, are := seen.ObjectNew.(*v1alpha1.PerfExperiment)
	return is && are && hasNews(before) && announcement.IsSame(before.Status.Announcement, after.Status.Announcement)
}

// Reconcile tells each sink what it has not been told yet.
func (a *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// The cache may not know what an earlier pass has told.
	before := &v1alpha1.PerfExperiment{}
	if err := a.Live.Get(ctx, request.NamespacedName, before); err != nil {
		if apierrors.IsNotFound(err) {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, fmt.Errorf("reading the experiment: %w", err)
	}
	if !hasNews(before) || !a.HoldsClaim(before) {
		return ctrl.Result{}, nil
	}
	after := before.DeepCopy()
	since := a.Now().Sub(after.Status.Announcement.Time.Time)
	outcome := a.tell(ctx, after)
	again := reportAnnounced(after, outcome, since >= announcement.Deadline)
	if err := a.writeStatus(ctx, before, after); err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return ctrl.Result{}, err
	}
	if !again {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: announcement.Pause(since)}, nil
}

// writeStatus writes the status if it changed.
func (a *Reconciler) writeStatus(ctx context.Context, before, after *v1alpha1.PerfExperiment) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	return component.PatchStatus(ctx, a.Cluster, "experiment", before, after)
}

// telling is how an attempt to tell all sinks ended.
type telling struct {
	// took are the sinks that have taken all.
	took []string
	// left are those that have not, each with its error.
	left []untold
}

// untold is a sink that does not take what it is told.
type untold struct {
	sink string
	err  error
}

// tell all sinks, side by side, what they have not taken yet, and note in the status what
// they take. One that does not take something is told nothing further: it comes in order.
func (a *Reconciler) tell(ctx context.Context, experiment *v1alpha1.PerfExperiment) telling {
	all, before := announcement.Of(experiment), experiment.Status.Announcement
	counts, errs := make([]int32, len(a.Sinks)), make([]error, len(a.Sinks))
	var calls sync.WaitGroup
	for i, sink := range a.Sinks {
		calls.Go(func() { counts[i], errs[i] = tellSink(ctx, sink, all, announcement.Progress(before, sink.Name())) })
	}
	calls.Wait()
	var outcome telling
	// Of sinks that are no more nothing is kept.
	before.Sinks = nil
	for i, sink := range a.Sinks {
		before.Sinks = append(before.Sinks, v1alpha1.SinkStatus{Name: sink.Name(), Told: counts[i]})
		if errs[i] != nil {
			log.FromContext(ctx).Info("A sink does not take an announcement", "sink", sink.Name(), "error", errs[i].Error())
			outcome.left = append(outcome.left, untold{sink.Name(), errs[i]})
			continue
		}
		outcome.took = append(outcome.took, sink.Name())
	}
	return outcome
}

// tellSink what it wants, but the first so many, and count what it has now been told.
func tellSink(ctx context.Context, sink sinks.Sink, all []announcement.Announcement, before int32) (told int32, err error) {
	for _, one := range all {
		if !sink.Wants(one) {
			continue
		}
		if told >= before {
			if err := sink.Tell(ctx, one); err != nil {
				return told, err
			}
		}
		told++
	}
	return told, nil
}

// reportAnnounced turns what sinks have taken into the condition, and reports whether
// they are to be told again. Sinks are told at least once, however late that is.
func reportAnnounced(experiment *v1alpha1.PerfExperiment, outcome telling, late bool) (again bool) {
	set := component.ConditionSetter(&experiment.Status.Conditions, experiment.Generation)
	if len(outcome.left) == 0 {
		set.SetReadiness(v1alpha1.ConditionAnnounced, environment.Readiness{
			Ready: true, Reason: v1alpha1.ReasonAnnounced, Message: announcedMessage(outcome.took),
		})
		return false
	}
	reason := v1alpha1.ReasonSinkAway
	sentences := make([]string, 0, len(outcome.left))
	for _, one := range outcome.left {
		if !errors.Is(one.err, sinks.ErrAway) {
			reason = v1alpha1.ReasonSinkRefuses
		}
		sentences = append(sentences, fmt.Sprintf("sink %q: %v", one.sink, one.err))
	}
	end := experiment.Status.Announcement.Time.Add(announcement.Deadline).UTC().Format(time.RFC3339)
	message := strings.Join(sentences, "; ") + "; retrying until " + end
	if late {
		reason = v1alpha1.ReasonSinkGivenUp
		message = fmt.Sprintf("%s; gave up at %s; the report is complete", strings.Join(sentences, "; "), end)
	}
	set.SetReadiness(v1alpha1.ConditionAnnounced, environment.NotReady(reason, message))
	return !late
}

func announcedMessage(took []string) string {
	if len(took) == 0 {
		return "no sinks are left to announce to"
	}
	return prose.Enumerate(took) + " " + prose.Verb(len(took), "was", "were") + " notified"
}
