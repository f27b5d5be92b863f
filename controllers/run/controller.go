// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/runs/provenance"
	"perflab.dev/perflab/internal/runs/runfilter"
	"perflab.dev/perflab/internal/telemetry"
)

// RunnerStopper makes a k6 runner end its test and print its results.
type RunnerStopper interface {
	StopRunner(ctx context.Context, address string) error
}

// Reconciler reconciles a PerfRun: it provisions the environment, runs the loads and collects
// the results.
type Reconciler struct {
	component.Tools
	Runners   RunnerStopper
	Telemetry *telemetry.Metrics
	Now       func() time.Time
	Watches   *ThirdPartyWatches
	// StatusThrottle spaces out progress writes.
	StatusThrottle component.StatusThrottle

	// logMutex lets one run at a time read its logs, which may take half of the operator's
	// memory.
	logMutex sync.Mutex
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns/status,verbs=get;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns/finalizers,verbs=update

// Reconcile advances a run by one step or more.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// Shared with the cache, as is its experiment: most runs are finished. reconcileOnce copies
	// it.
	run := &v1alpha1.PerfRun{}
	if err := r.Cluster.Client.Get(ctx, request.NamespacedName, run, client.UnsafeDisableDeepCopy); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if run.DeletionTimestamp != nil || provenance.IsImported(run) {
		return ctrl.Result{}, nil
	}
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues("experiment", run.Spec.Experiment))
	experiment, err := r.getExperiment(ctx, run)
	ctx = r.withRunAccount(ctx, run, experiment)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case experiment != nil && !r.HoldsClaim(experiment):
		// The experiment's status names its operator.
		return ctrl.Result{RequeueAfter: unclaimedRetryInterval(experiment)}, nil
	case run.Status.Phase.IsFinal():
		return r.cleanUp(ctx, run)
	case experiment == nil:
		return ctrl.Result{}, nil
	}
	return r.reconcileActive(ctx, run, experiment)
}

// withRunAccount returns a context whose writes are made as the experiment's ServiceAccount.
// The run names it as well, for when the experiment is gone.
func (r *Reconciler) withRunAccount(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) context.Context {
	if experiment == nil {
		return r.WithTeardownAccount(ctx, run.Namespace, run.Spec.ServiceAccountName)
	}
	return r.WithAccount(ctx, experiment)
}

// reconcileActive continues an unfinished run if it belongs to its experiment.
func (r *Reconciler) reconcileActive(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	if why := runfilter.Why(experiment, runfilter.Recorded(experiment), run); why != "" {
		// The experiment's status lists it. The plan may be stale.
		log.FromContext(ctx).V(1).Info("Ignoring the run", "reason", why)
		return ctrl.Result{RequeueAfter: unownedRetryInterval}, nil
	}
	if err := r.Watches.Ensure(ctx); err != nil {
		return ctrl.Result{}, fmt.Errorf("watching the environment: %w", err)
	}
	return r.reconcileOnce(ctx, run, experiment)
}

// unownedRetryInterval is how often a run that does not belong to its experiment is checked.
const unownedRetryInterval = time.Minute

// unclaimedRetryInterval is how often a run is checked whose experiment is not this operator's.
// An unclaimed experiment is claimed shortly.
func unclaimedRetryInterval(experiment *v1alpha1.PerfExperiment) time.Duration {
	if component.ClaimedBy(experiment) == "" {
		return time.Second
	}
	return unownedRetryInterval
}

// cleanUp deletes objects of a finished run. Its status is final, so problems are events.
func (r *Reconciler) cleanUp(ctx context.Context, run *v1alpha1.PerfRun) (ctrl.Result, error) {
	err := r.deleteFinished(ctx, run)
	if refusal := kube.AsRefusal(err); refusal != nil {
		r.Events.Eventf(run, nil, corev1.EventTypeWarning, "NotTidied", "Tidy", "%s", refusal.Sentence())
		return ctrl.Result{RequeueAfter: time.Minute}, nil
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) reconcileOnce(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	before := run.DeepCopy()
	s := &scope{run: run.DeepCopy(), experiment: experiment, now: r.Now()}
	s.fault = component.RecordedFault(before)
	if s.mayReadLogs() {
		if !r.logMutex.TryLock() {
			return ctrl.Result{RequeueAfter: logRetryInterval}, nil
		}
		defer r.logMutex.Unlock()
		s.logDeadline = time.Now().Add(logTimeout) //nolint:forbidigo // The deadline of a connection is in real time.
	}

	result, stepErr := r.runSteps(ctx, s)
	reportRun(s)
	later, err := r.writeRunStatus(ctx, before, s.run)
	if refused, is := component.StatusRefusalReadiness(err); is {
		s, err = r.writeRefusal(ctx, before, s, refused)
		result, stepErr, later = ctrl.Result{RequeueAfter: time.Second}, nil, 0
	}
	if err != nil {
		if apierrors.IsConflict(err) {
			// The run was stale. The next reconcile reads the newer one.
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		r.RecordStatusRefusal(before, err)
		return ctrl.Result{}, errors.Join(stepErr, err)
	}
	r.recordEvents(before, s.run)
	if apierrors.IsConflict(stepErr) {
		log.FromContext(ctx).V(1).Info("Conflict", "error", stepErr.Error())
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if stepErr == nil {
		result.RequeueAfter = component.MinRequeueAfter(result.RequeueAfter, later)
	}
	return result, stepErr
}

// logRetryInterval is how often a run tries to read logs while another one does.
const logRetryInterval = time.Second

// mayReadLogs reports whether the reconcile may read the logs of runners and collectors.
func (s *scope) mayReadLogs() bool {
	return s.fault != nil || s.status().Timings.LoadFinish != nil && s.status().RawResults == ""
}

// newScope returns the scope of components, which reads from the cache.
func (r *Reconciler) newScope(s *scope) *component.Scope {
	return &component.Scope{Tools: r.Tools, Run: s.run, Experiment: s.experiment, Now: s.now}
}

// newLiveScope returns a scope that reads from the API server. A run must not become invalid by
// stale pods or workloads.
func (r *Reconciler) newLiveScope(s *scope) *component.Scope {
	pass := r.newScope(s)
	pass.Cluster = r.Cluster.Uncached(r.Live)
	return pass
}

func (r *Reconciler) result(s *scope, outcome outcome) ctrl.Result {
	after := outcome.after
	if !s.requeueTime.IsZero() {
		left := max(s.requeueTime.Sub(s.now), time.Second)
		if after == 0 || left < after {
			after = left
		}
	}
	return ctrl.Result{RequeueAfter: after}
}

// getExperiment returns the run's experiment, or nil if the run must be left alone: the
// experiment is gone or being deleted, or both are imported.
func (r *Reconciler) getExperiment(ctx context.Context, run *v1alpha1.PerfRun) (*v1alpha1.PerfExperiment, error) {
	experiment := &v1alpha1.PerfExperiment{}
	key := client.ObjectKey{Namespace: run.Namespace, Name: run.Spec.Experiment}
	err := r.Cluster.Client.Get(ctx, key, experiment, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading experiment %q: %w", key.Name, err)
	}
	if experiment.DeletionTimestamp != nil || provenance.IsImported(experiment) {
		return nil, nil
	}
	return experiment, nil
}
