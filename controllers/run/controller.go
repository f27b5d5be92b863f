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

// RunnerStopper tells a k6 runner to end its test and deliver its results.
type RunnerStopper interface {
	StopRunner(ctx context.Context, address string) error
}

// Reconciler does one PerfRun: it builds the environment, puts the loads on
// and collects what they measured.
type Reconciler struct {
	component.Tools
	Runners   RunnerStopper
	Telemetry *telemetry.Metrics
	Now       func() time.Time
	Watches   *ThirdPartyWatches
	// StatusThrottle is the pace of what merely tells how far a run is.
	StatusThrottle component.StatusThrottle

	// logMutex lets one run at a time read its logs: what may have to be held of
	// them is half of the operator's memory.
	logMutex sync.Mutex
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns/status,verbs=get;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns/finalizers,verbs=update

// Reconcile brings a run one pass further.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// The cache's own, as is its experiment: most runs are over. A pass has a copy.
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
		// The experiment tells whose it is.
		return ctrl.Result{RequeueAfter: unclaimedRetryInterval(experiment)}, nil
	case run.Status.Phase.IsFinal():
		return r.cleanUp(ctx, run)
	case experiment == nil:
		return ctrl.Result{}, nil
	}
	return r.reconcileActive(ctx, run, experiment)
}

// withRunAccount has a pass over a run write as the experiment's ServiceAccount, which the run
// names as well, for when its experiment is gone.
func (r *Reconciler) withRunAccount(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) context.Context {
	if experiment == nil {
		return r.WithTeardownAccount(ctx, run.Namespace, run.Spec.ServiceAccountName)
	}
	return r.WithAccount(ctx, experiment)
}

// reconcileActive goes on with a run that is on, if it is its experiment's.
func (r *Reconciler) reconcileActive(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	if why := runfilter.Why(experiment, runfilter.Recorded(experiment), run); why != "" {
		// The experiment names it. What is known of the plan may be old.
		log.FromContext(ctx).V(1).Info("The run is left alone", "why", why)
		return ctrl.Result{RequeueAfter: unownedRetryInterval}, nil
	}
	if err := r.Watches.Ensure(ctx); err != nil {
		return ctrl.Result{}, fmt.Errorf("watching the environment: %w", err)
	}
	return r.reconcileOnce(ctx, run, experiment)
}

// unownedRetryInterval is the time between two looks at a run that is none of its
// experiment's.
const unownedRetryInterval = time.Minute

// unclaimedRetryInterval is the time between two looks at a run of an experiment that is
// not this operator's. One that is nobody's is claimed in the same moment.
func unclaimedRetryInterval(experiment *v1alpha1.PerfExperiment) time.Duration {
	if component.ClaimedBy(experiment) == "" {
		return time.Second
	}
	return unownedRetryInterval
}

// cleanUp takes away what a run that is over needs no more. Its status is final,
// so what is in the way is an event.
func (r *Reconciler) cleanUp(ctx context.Context, run *v1alpha1.PerfRun) (ctrl.Result, error) {
	err := r.deleteFinished(ctx, run)
	if refusal := kube.RefusalOf(err); refusal != nil {
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
			// This pass saw an old run. The next one sees it as it is.
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

// logRetryInterval is the time between two tries to read logs while another run does.
const logRetryInterval = time.Second

// mayReadLogs: the pass may read the logs of runners and collectors.
func (s *scope) mayReadLogs() bool {
	return s.fault != nil || s.status().Timings.LoadFinish != nil && s.status().RawResults == ""
}

// newScope is what components see of a pass.
func (r *Reconciler) newScope(s *scope) *component.Scope {
	return &component.Scope{Tools: r.Tools, Run: s.run, Experiment: s.experiment, Now: s.now}
}

// newLiveScope is what components see past the cache: what makes a run invalid has
// to be so, and a cache may show pods and workloads of before the run.
func (r *Reconciler) newLiveScope(s *scope) *component.Scope {
	pass := r.newScope(s)
	pass.Cluster = r.Cluster.Afresh(r.Live)
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

// getExperiment returns nil when the run has no living experiment and should be
// left alone: it is about to be deleted with it, or both are records.
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
