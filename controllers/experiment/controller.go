// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/artifact"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/controllers/queue"
	"perflab.dev/perflab/controllers/retention"
	"perflab.dev/perflab/internal/kube"
	kubecache "perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/telemetry"
	"perflab.dev/perflab/internal/text/prose"
)

// Reconciler plans the runs of a PerfExperiment, starts one after another and makes artifacts from
// their results. Make one with [New].
type Reconciler struct {
	component.Tools
	Now func() time.Time
	// StatusThrottle bounds how often a status is written that only shows the progress of the
	// current run.
	StatusThrottle component.StatusThrottle

	artifacts artifact.Maker
	pruner    retention.Pruner
	queue     queue.Queue

	// reported are the experiments of other operators for which an event was sent, by UID and
	// operator.
	reported sync.Map
	designs  designs
	// starts lets one experiment of a namespace at a time start a run.
	starts namespaceLocks
}

// New returns a reconciler. counted counts analyses; nil: nothing is counted.
func New(tools component.Tools, now func() time.Time, counted *telemetry.Metrics, policy retention.Policy) *Reconciler {
	r := &Reconciler{Tools: tools, Now: now}
	r.artifacts.Tools, r.artifacts.Telemetry = &r.Tools, counted
	r.pruner.Tools, r.pruner.Policy = &r.Tools, policy
	r.queue.Tools = &r.Tools
	return r
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfexperiments,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfexperiments/status,verbs=get;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfexperiments/finalizers,verbs=update

// Reconcile advances an experiment by one step.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// Shared with the cache: most experiments are settled, and a copy is expensive.
	cached := &v1alpha1.PerfExperiment{}
	if err := r.Cluster.Client.Get(ctx, request.NamespacedName, cached, client.UnsafeDisableDeepCopy); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request)
			return r.releaseOrphans(ctx, request.NamespacedName)
		}
		return ctrl.Result{}, fmt.Errorf("reading the experiment: %w", err)
	}
	ctx = r.WithAccount(ctx, cached)
	isImported := provenance.IsImported(cached)
	switch {
	case r.IsHeldByAnother(cached) && !isImported:
		r.leave(ctx, cached)
		return ctrl.Result{}, nil
	case isImported && cached.DeletionTimestamp == nil:
		// An imported record has nothing in the cluster. Workloads that are still adopted in its
		// name belonged to an earlier experiment.
		return r.releaseOrphans(ctx, request.NamespacedName)
	case retention.IsRetired(cached):
		return r.retire(ctx, cached)
	}
	if after, isSettled, err := r.checkSettled(ctx, cached); isSettled || err != nil {
		return ctrl.Result{RequeueAfter: after}, err
	}
	if !kubecache.IsStrippedExperiment(cached) {
		return r.work(ctx, cached.DeepCopy())
	}
	whole := &v1alpha1.PerfExperiment{}
	if err := r.Live.Get(ctx, request.NamespacedName, whole); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return r.work(ctx, whole)
}

func (r *Reconciler) forget(request ctrl.Request) {
	r.designs.forget(request.NamespacedName)
	r.artifacts.Forget(request.NamespacedName)
}

// retire deletes the expired runs of an experiment, and does nothing else.
func (r *Reconciler) retire(ctx context.Context, experiment *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	if err := r.pruner.Retire(ctx, experiment); err != nil {
		return ctrl.Result{}, err
	}
	if experiment.Status.ObservedGeneration == experiment.Generation {
		return ctrl.Result{}, nil
	}
	s := newScope(experiment, r.Now())
	s.Experiment.Status.ObservedGeneration = experiment.Generation
	return ctrl.Result{}, r.writeStatus(ctx, experiment, s)
}

// checkSettled reports whether nothing is left to do, and for how long.
func (r *Reconciler) checkSettled(ctx context.Context, experiment *v1alpha1.PerfExperiment) (after time.Duration, isSettled bool, err error) {
	if experiment.Status.Settled == "" || experiment.DeletionTimestamp != nil || !controllerutil.ContainsFinalizer(experiment, v1alpha1.Finalizer) {
		return 0, false, nil
	}
	s := &scope{Subject: artifact.Subject{Experiment: experiment, Now: r.Now()}}
	// Shared with the cache, too: there may be a hundred thousand finished runs.
	if err := r.observe(ctx, s, client.UnsafeDisableDeepCopy); err != nil {
		return 0, false, err
	}
	if after, isSettled = s.isSettled(); !isSettled {
		return 0, false, nil
	}
	isDue, prune, err := r.pruner.Due(ctx, s.pruned())
	if err != nil || isDue {
		return 0, false, err
	}
	r.forget(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(experiment)})
	return component.MinRequeueAfter(after, prune), true, nil
}

// isSettled reports whether nothing is left to do for a while; zero: until something changes.
func (s *scope) isSettled() (left time.Duration, isSettled bool) {
	if s.seen == "" || s.Experiment.Status.Settled != s.seen {
		return 0, false
	}
	if !s.hasEnvironment() {
		return 0, true
	}
	left = s.environmentLeft()
	return left, left > 0
}

// work reconciles an experiment that is not settled.
func (r *Reconciler) work(ctx context.Context, before *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	s := newScope(before, r.Now())
	if before.DeletionTimestamp != nil {
		return r.remove(ctx, before, s)
	}
	if err := r.takeOn(ctx, s.Experiment, before); err != nil {
		s.Experiment = before.DeepCopy()
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return r.concludeWith(ctx, before, s, err)
	}
	before = s.Experiment.DeepCopy()
	if err := r.observe(ctx, s); err != nil {
		return ctrl.Result{}, err
	}
	noteLedgers(s)
	s.Ended = runsDigest(s.Experiment, artifact.EndedRuns(s.Runs))
	r.artifacts.Begin(&s.Subject)
	defer r.artifacts.Release(&s.Subject)
	return r.decideAndReport(ctx, before, s)
}

// decideAndReport runs the steps, then makes the artifacts that follow from the status.
func (r *Reconciler) decideAndReport(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope) (ctrl.Result, error) {
	stepErr := s.refused(r.runSteps(ctx, s))
	if stepErr != nil && s.refusal == nil && !s.decided {
		// The status keeps the results of earlier reconciles.
		return retry(stepErr)
	}
	reportExperiment(s)
	err := errors.Join(stepErr, r.makeArtifacts(ctx, s, before, stepErr == nil))
	r.reportSettled(s, err)
	return r.conclude(ctx, before, s, err)
}

// makeArtifacts makes the artifacts that are due. Only an experiment without errors is archived.
func (r *Reconciler) makeArtifacts(ctx context.Context, s *scope, before *v1alpha1.PerfExperiment, isClean bool) error {
	err := r.artifacts.Reconcile(ctx, &s.Subject, artifact.Stored...)
	r.artifacts.TraceAhead(ctx, &s.Subject)
	reportWarnings(s)
	if !r.artifacts.IsCurrent(&s.Subject, artifact.History) {
		// Nothing is pruned before later experiments can be compared with this one.
		s.Experiment.Status.History = before.Status.History
	}
	r.artifacts.Announce(ctx, &s.Subject)
	if err == nil && isClean {
		err = r.artifacts.Reconcile(ctx, &s.Subject, artifact.Archive)
	}
	return err
}

// takeOn claims the experiment for this operator. Without the finalizer nothing may be built,
// because nothing would delete it.
func (r *Reconciler) takeOn(ctx context.Context, experiment, before *v1alpha1.PerfExperiment) error {
	isClaimed, isHeld := r.Claim(experiment), controllerutil.AddFinalizer(experiment, v1alpha1.Finalizer)
	switch {
	case isClaimed:
		return r.Cluster.PatchIfUnchanged(ctx, experiment, before)
	case isHeld:
		return r.Cluster.Patch(ctx, experiment, before)
	default:
		return nil
	}
}

// leave reports, once, that another operator has the experiment, and writes its status.
func (r *Reconciler) leave(ctx context.Context, experiment *v1alpha1.PerfExperiment) {
	if _, isKnown := r.reported.LoadOrStore(string(experiment.UID)+"/"+component.ClaimedBy(experiment), true); isKnown {
		return
	}
	sentence := r.OtherOperatorMessage(experiment)
	log.FromContext(ctx).Info("Another operator manages the experiment", "operator", component.ClaimedBy(experiment), "advice", sentence)
	r.Events.Eventf(experiment, nil, corev1.EventTypeWarning, "HeldByAnother", "Leave", "%s", prose.Sentence(sentence))
}

// concludeWith ends a reconcile that can't continue.
func (r *Reconciler) concludeWith(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope, err error) (ctrl.Result, error) {
	err = s.refused(err)
	reportExperiment(s)
	return r.conclude(ctx, before, s, err)
}

// conclude writes the status, then sends events.
func (r *Reconciler) conclude(ctx context.Context, before *v1alpha1.PerfExperiment, s *scope, stepErr error) (ctrl.Result, error) {
	err := r.writeStatus(ctx, before, s)
	if refused, isRefused := component.StatusRefusalReadiness(err); isRefused {
		err = r.giveUp(ctx, before, s, refused)
	}
	if err != nil {
		if apierrors.IsConflict(err) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		r.RecordStatusRefusal(before, err)
		return ctrl.Result{}, errors.Join(stepErr, err)
	}
	r.artifacts.Remember(&s.Subject)
	r.sendEvents(before, s)
	if stepErr != nil {
		return retry(stepErr)
	}
	return ctrl.Result{RequeueAfter: s.After()}, nil
}

// retry requests another reconcile: soon, if the cache was stale or another reconcile was busy.
func retry(err error) (ctrl.Result, error) {
	if apierrors.IsConflict(err) || errors.Is(err, artifact.ErrBusy) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) observe(ctx context.Context, s *scope, how ...client.ListOption) error {
	runs, err := kubecache.ListRuns(ctx, r.Cluster.Client, s.Experiment.Namespace, s.Experiment.Name, how...)
	if err != nil {
		return err
	}
	s.seen = runsDigest(s.Experiment, runs)
	s.Runs, s.ignored = runfilter.Owned(s.Experiment, runs)
	return nil
}

// cleanUp deletes the environment of a complete experiment once it expires.
func (r *Reconciler) cleanUp(ctx context.Context, s *scope) error {
	if !s.hasEnvironment() {
		return nil
	}
	if left := s.environmentLeft(); left > 0 {
		s.Requeue(left)
		return nil
	}
	// Recorded deletions are not checked again, and the cache may be stale.
	for _, cluster := range []kube.Cluster{r.Cluster, r.Cluster.Uncached(r.Live)} {
		if err := r.tearDown(ctx, s, cluster); err != nil || s.teardown.isActive {
			return err
		}
	}
	s.Experiment.Status.TornDown = &metav1.Time{Time: s.Now}
	return nil
}
