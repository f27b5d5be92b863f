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

// Reconciler sends announcements. It has separate workers, so that a slow or unavailable sink
// delays no experiment. The experiment's status records what is pending and what was sent. If
// the operator is killed in between, it sends an announcement again with the same ID, by which
// receivers recognize it.
type Reconciler struct {
	component.Tools
	Now func() time.Time
}

// workers is the number of experiments that are announced concurrently.
const workers = 4

// SetupWithManager adds the reconciler to the manager. Pending announcements trigger it.
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

// news selects the events that trigger a reconcile: new announcements and, at the start of the
// operator, pending ones.
func news() predicate.Funcs {
	return predicate.Funcs{
		CreateFunc:  func(seen event.CreateEvent) bool { return hasNews(seen.Object) },
		UpdateFunc:  func(seen event.UpdateEvent) bool { return hasNews(seen.ObjectNew) && !hasSame(seen) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// hasNews reports whether an experiment has an announcement that a sink has not received yet.
func hasNews(object client.Object) bool {
	experiment, is := object.(*v1alpha1.PerfExperiment)
	if !is || provenance.IsImported(experiment) || experiment.Status.Announcement == nil || experiment.DeletionTimestamp != nil {
		return false
	}
	condition := meta.FindStatusCondition(experiment.Status.Conditions, v1alpha1.ConditionAnnounced)
	return condition != nil && condition.Status != metav1.ConditionTrue && condition.Reason != v1alpha1.ReasonSinkGivenUp
}

// hasSame reports whether the same announcement was pending before: a reconcile is due already.
func hasSame(seen event.UpdateEvent) bool {
	before, is := seen.ObjectOld.(*v1alpha1.PerfExperiment)
	after, are := seen.ObjectNew.(*v1alpha1.PerfExperiment)
	return is && are && hasNews(before) && announcement.IsSame(before.Status.Announcement, after.Status.Announcement)
}

// Reconcile sends each sink the announcements that it has not received yet.
func (a *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// The cache may lack what an earlier reconcile has recorded.
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
	outcome := a.send(ctx, after)
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
	return ctrl.Result{RequeueAfter: announcement.RetryDelay(since)}, nil
}

// writeStatus writes the status if it changed.
func (a *Reconciler) writeStatus(ctx context.Context, before, after *v1alpha1.PerfExperiment) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	return component.PatchStatus(ctx, a.Cluster, "experiment", before, after)
}

// delivery is the result of an attempt to notify all sinks.
type delivery struct {
	// accepted are the sinks that accepted everything.
	accepted []string
	// failed are the others, each with its error.
	failed []failedSink
}

// failedSink is a sink that did not accept an announcement.
type failedSink struct {
	sink string
	err  error
}

// send sends all sinks, concurrently, what is pending, and records in the status what they
// accepted. After an error it sends a sink nothing further, to keep the order.
func (a *Reconciler) send(ctx context.Context, experiment *v1alpha1.PerfExperiment) delivery {
	all, before := announcement.New(experiment), experiment.Status.Announcement
	counts, errs := make([]int32, len(a.Sinks)), make([]error, len(a.Sinks))
	var calls sync.WaitGroup
	for i, sink := range a.Sinks {
		calls.Go(func() { counts[i], errs[i] = sendTo(ctx, sink, all, announcement.Progress(before, sink.Name())) })
	}
	calls.Wait()
	var outcome delivery
	// Drops the progress of removed sinks.
	before.Sinks = nil
	for i, sink := range a.Sinks {
		before.Sinks = append(before.Sinks, v1alpha1.SinkStatus{Name: sink.Name(), Told: counts[i]})
		if errs[i] != nil {
			log.FromContext(ctx).Info("Failed to send an announcement", "sink", sink.Name(), "error", errs[i].Error())
			outcome.failed = append(outcome.failed, failedSink{sink.Name(), errs[i]})
			continue
		}
		outcome.accepted = append(outcome.accepted, sink.Name())
	}
	return outcome
}

// sendTo sends what the sink wants, except the first ones, and counts all that it has received.
func sendTo(ctx context.Context, sink sinks.Sink, all []announcement.Announcement, before int32) (sent int32, err error) {
	for _, one := range all {
		if !sink.Wants(one) {
			continue
		}
		if sent >= before {
			if err := sink.Send(ctx, one); err != nil {
				return sent, err
			}
		}
		sent++
	}
	return sent, nil
}

// reportAnnounced sets the condition, and reports whether to retry. Each sink gets at least one
// attempt, even after the deadline.
func reportAnnounced(experiment *v1alpha1.PerfExperiment, outcome delivery, late bool) (again bool) {
	set := component.ConditionSetter(&experiment.Status.Conditions, experiment.Generation)
	if len(outcome.failed) == 0 {
		set.SetReadiness(v1alpha1.ConditionAnnounced, environment.Readiness{
			Ready: true, Reason: v1alpha1.ReasonAnnounced, Message: announcedMessage(outcome.accepted),
		})
		return false
	}
	reason := v1alpha1.ReasonSinkUnavailable
	sentences := make([]string, 0, len(outcome.failed))
	for _, one := range outcome.failed {
		if !errors.Is(one.err, sinks.ErrUnavailable) {
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

func announcedMessage(accepted []string) string {
	if len(accepted) == 0 {
		return "no sinks are configured"
	}
	return prose.Enumerate(accepted) + " " + prose.Verb(len(accepted), "was", "were") + " notified"
}
