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
	Watches   *ForeignWatches
	// Words is the pace of what merely tells how far a run is.
	Words component.Pace

	// reading lets one run at a time read its logs: what may have to be held of
	// them is half of the operator's memory.
	reading sync.Mutex
}

// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns/status,verbs=get;patch
// +kubebuilder:rbac:groups=perflab.dev,resources=perfruns/finalizers,verbs=update
// +kubebuilder:rbac:groups=kafka.strimzi.io,resources=kafkas;kafkanodepools,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=clusters;poolers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=k6.io,resources=testruns,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=services;configmaps,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

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
	experiment, err := r.experimentOf(ctx, run)
	ctx = r.writingFor(ctx, run, experiment)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case experiment != nil && !r.Holds(experiment):
		// The experiment tells whose it is.
		return ctrl.Result{RequeueAfter: unheldPause(experiment)}, nil
	case run.Status.Phase.IsFinal():
		return r.tidyUp(ctx, run)
	case experiment == nil:
		return ctrl.Result{}, nil
	}
	return r.work(ctx, run, experiment)
}

// writingFor has a pass over a run write as the experiment's ServiceAccount, which the run
// names as well, for when its experiment is gone.
func (r *Reconciler) writingFor(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) context.Context {
	if experiment == nil {
		return r.ToEnd(ctx, run.Namespace, run.Spec.ServiceAccountName)
	}
	return r.For(ctx, experiment)
}

// work goes on with a run that is on, if it is its experiment's.
func (r *Reconciler) work(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	if why := runfilter.Why(experiment, runfilter.Recorded(experiment), run); why != "" {
		// The experiment names it. What is known of the plan may be old.
		log.FromContext(ctx).V(1).Info("The run is left alone", "why", why)
		return ctrl.Result{RequeueAfter: foreignPause}, nil
	}
	if err := r.Watches.Ensure(ctx); err != nil {
		return ctrl.Result{}, fmt.Errorf("watching the environment: %w", err)
	}
	return r.pass(ctx, run, experiment)
}

// foreignPause is the time between two looks at a run that is none of its
// experiment's.
const foreignPause = time.Minute

// unheldPause is the time between two looks at a run of an experiment that is
// not this operator's. One that is nobody's is claimed in the same moment.
func unheldPause(experiment *v1alpha1.PerfExperiment) time.Duration {
	if component.Holder(experiment) == "" {
		return time.Second
	}
	return foreignPause
}

// tidyUp takes away what a run that is over needs no more. Its status is final,
// so what is in the way is an event.
func (r *Reconciler) tidyUp(ctx context.Context, run *v1alpha1.PerfRun) (ctrl.Result, error) {
	err := r.tidy(ctx, run)
	if refusal := kube.AsRefusal(err); refusal != nil {
		r.Events.Eventf(run, nil, corev1.EventTypeWarning, "NotTidied", "Tidy", "%s", refusal.Sentence())
		return ctrl.Result{RequeueAfter: time.Minute}, nil
	}
	return ctrl.Result{}, err
}

func (r *Reconciler) pass(ctx context.Context, run *v1alpha1.PerfRun, experiment *v1alpha1.PerfExperiment) (ctrl.Result, error) {
	before := run.DeepCopy()
	s := &scope{run: run.DeepCopy(), experiment: experiment, now: r.Now()}
	s.fault = component.FaultOf(before)
	if s.readsLogs() {
		if !r.reading.TryLock() {
			return ctrl.Result{RequeueAfter: readingPause}, nil
		}
		defer r.reading.Unlock()
		s.readUntil = time.Now().Add(logTimeout) //nolint:forbidigo // The deadline of a connection is in real time.
	}

	result, stepErr := r.runSteps(ctx, s)
	reportRun(s)
	later, err := r.writeRunStatus(ctx, before, s.run)
	if refused, is := component.RefusedStatus(err); is {
		s, err = r.giveUp(ctx, before, s, refused)
		result, stepErr, later = ctrl.Result{RequeueAfter: time.Second}, nil, 0
	}
	if err != nil {
		if apierrors.IsConflict(err) {
			// This pass saw an old run. The next one sees it as it is.
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		r.TellRefused(before, err)
		return ctrl.Result{}, errors.Join(stepErr, err)
	}
	r.announceRun(before, s.run)
	if apierrors.IsConflict(stepErr) {
		log.FromContext(ctx).V(1).Info("Conflict", "error", stepErr.Error())
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	if stepErr == nil {
		result.RequeueAfter = component.Sooner(result.RequeueAfter, later)
	}
	return result, stepErr
}

// readingPause is the time between two tries to read logs while another run does.
const readingPause = time.Second

// readsLogs: the pass may read the logs of runners and collectors.
func (s *scope) readsLogs() bool {
	return s.fault != nil || s.status().Timings.LoadFinish != nil && s.status().RawResults == ""
}

// seenBy is what components see of a pass.
func (r *Reconciler) seenBy(s *scope) *component.Pass {
	return &component.Pass{Tools: r.Tools, Run: s.run, Experiment: s.experiment, Now: s.now}
}

// seenAfresh is what components see past the cache: what makes a run invalid has
// to be so, and a cache may show pods and workloads of before the run.
func (r *Reconciler) seenAfresh(s *scope) *component.Pass {
	pass := r.seenBy(s)
	pass.Cluster = r.Cluster.Uncached(r.Live)
	return pass
}

func (r *Reconciler) result(s *scope, outcome outcome) ctrl.Result {
	after := outcome.after
	if !s.deadline.IsZero() {
		left := max(s.deadline.Sub(s.now), time.Second)
		if after == 0 || left < after {
			after = left
		}
	}
	return ctrl.Result{RequeueAfter: after}
}

// experimentOf returns nil when the run has no living experiment and should be
// left alone: it is about to be deleted with it, or both are records.
func (r *Reconciler) experimentOf(ctx context.Context, run *v1alpha1.PerfRun) (*v1alpha1.PerfExperiment, error) {
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
