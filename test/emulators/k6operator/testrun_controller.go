// SPDX-License-Identifier: Apache-2.0

package k6operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"perflab.dev/perflab/test/emulators/fault"
	k6v1alpha1 "perflab.dev/perflab/test/emulators/k6operator/api/v1alpha1"
)

const (
	// startInterval is the polling interval for runners that are starting.
	startInterval = time.Second
	// longestPause is the longest delay between two attempts to reach running runners.
	longestPause = 5 * time.Minute
)

// TestRunReconciler advances a TestRun from stage to stage. Each stage has one function, which
// does nothing until its condition is met, and then writes the next stage.
type TestRunReconciler struct {
	client.Client
	// Cluster reads data that is in no object.
	Cluster Cluster
	// PollInterval is the polling interval for running runners; the real operator uses 15 s.
	PollInterval time.Duration
}

// SetupWithManager watches TestRuns, their Jobs and their Pods.
func (r *TestRunReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("emulated-testrun").
		For(&k6v1alpha1.TestRun{}).
		Owns(&batchv1.Job{}).
		Watches(&corev1.Pod{}, handler.EnqueueRequestsFromMapFunc(runRequest)).
		Complete(r)
}

// runRequest returns the TestRun of a Pod, from its label; the Pod's owner is a Job.
func runRequest(_ context.Context, pod client.Object) []reconcile.Request {
	name := pod.GetLabels()[labelRun]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}}}
}

// Reconcile advances the run as far as possible.
func (r *TestRunReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	run := &k6v1alpha1.TestRun{}
	if err := r.Get(ctx, req.NamespacedName, run); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if run.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	faults, err := fault.Parse(run.Annotations)
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	if faults.Has(fault.Ignore) {
		return ctrl.Result{}, nil
	}
	if run.Spec.Parallelism < 1 {
		return ctrl.Result{}, reconcile.TerminalError(fmt.Errorf(
			"parallelism of TestRun cannot be less than 1; provided value is %d", run.Spec.Parallelism))
	}
	result, err := r.step(ctx, run, faults)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: startInterval}, nil
	}
	return result, err
}

func (r *TestRunReconciler) step(ctx context.Context, run *k6v1alpha1.TestRun, faults fault.Faults) (ctrl.Result, error) {
	switch run.Status.Stage {
	case "":
		return r.begin(ctx, run)
	case k6v1alpha1.StageInitialization:
		return r.initialize(ctx, run, faults)
	case k6v1alpha1.StageInitialized:
		return r.createRunners(ctx, run, faults)
	case k6v1alpha1.StageCreated:
		return r.start(ctx, run, faults)
	case k6v1alpha1.StageStarted:
		return r.awaitRunners(ctx, run)
	case k6v1alpha1.StageStopped:
		return ctrl.Result{}, r.advance(ctx, run, k6v1alpha1.StageFinished, nil)
	case k6v1alpha1.StageFinished, k6v1alpha1.StageError:
		return ctrl.Result{}, r.cleanUp(ctx, run)
	}
	return ctrl.Result{}, reconcile.TerminalError(fmt.Errorf("unknown stage %q", run.Status.Stage))
}

// begin writes the first status, which has conditions alone, and then the first stage. A disabled
// initializer is skipped, and the kind of the run then stays unknown.
func (r *TestRunReconciler) begin(ctx context.Context, run *k6v1alpha1.TestRun) (ctrl.Result, error) {
	if len(run.Status.Conditions) == 0 {
		return ctrl.Result{}, r.advance(ctx, run, "", setInitialConditions)
	}
	stage := k6v1alpha1.StageInitialization
	if run.Spec.Initializer != nil && run.Spec.Initializer.Disabled {
		stage = k6v1alpha1.StageInitialized
	}
	if err := checkArguments(splitArguments(&run.Spec)); err != nil {
		ctrl.LoggerFrom(ctx).Info("invalid TestRun", "reason", err.Error())
		return ctrl.Result{}, r.advance(ctx, run, k6v1alpha1.StageError, nil)
	}
	return ctrl.Result{}, r.advance(ctx, run, stage, nil)
}

// initialize waits for the initializer's result.
func (r *TestRunReconciler) initialize(ctx context.Context, run *k6v1alpha1.TestRun, faults fault.Faults) (ctrl.Result, error) {
	job, err := initializerJob(run)
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	if err := r.create(ctx, run, job); err != nil {
		return ctrl.Result{}, err
	}
	needed, done, err := r.inspect(ctx, run)
	if err == nil && !done {
		return ctrl.Result{RequeueAfter: r.PollInterval}, nil
	}
	if err == nil && needed.MaxVUs < int64(run.Spec.Parallelism) {
		err = fmt.Errorf("parallelism %d is larger than the script's %d VUs", run.Spec.Parallelism, needed.MaxVUs)
	}
	if faults.Has(fault.InitializerError) {
		err = errors.New("set by the annotation " + fault.Annotation)
	}
	if err != nil {
		ctrl.LoggerFrom(ctx).Info("script refused", "reason", err.Error())
		return ctrl.Result{}, r.advance(ctx, run, k6v1alpha1.StageError, nil)
	}
	return ctrl.Result{}, r.advance(ctx, run, k6v1alpha1.StageInitialized, func(status *k6v1alpha1.TestRunStatus) {
		setBoolean(status, conditionCloudRun, false)
	})
}

// createRunners creates all runners with their Services. A Job of the same name that belongs
// to another run blocks this one forever.
func (r *TestRunReconciler) createRunners(ctx context.Context, run *k6v1alpha1.TestRun, faults fault.Faults) (ctrl.Result, error) {
	for index := 1; index <= int(run.Spec.Parallelism); index++ {
		job, err := runnerJob(run, index)
		if err != nil {
			return ctrl.Result{}, reconcile.TerminalError(err)
		}
		container := &job.Spec.Template.Spec.Containers[0]
		if container.Command, err = faultyCommand(faults, index, container.Command); err != nil {
			return ctrl.Result{}, reconcile.TerminalError(err)
		}
		if err := r.create(ctx, run, job); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.create(ctx, run, runnerService(run, index)); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, r.advance(ctx, run, k6v1alpha1.StageCreated, nil)
}

// start releases the runners when all of them run and answer. It has no deadline: a runner that
// can't start keeps the run in this stage.
func (r *TestRunReconciler) start(ctx context.Context, run *k6v1alpha1.TestRun, faults fault.Faults) (ctrl.Result, error) {
	if faults.Has(fault.StuckCreated) {
		return ctrl.Result{}, nil
	}
	running, err := r.runningRunners(ctx, run)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(running) != int(run.Spec.Parallelism) {
		return ctrl.Result{RequeueAfter: startInterval}, nil
	}
	addresses, err := r.answeringRunners(ctx, run)
	if err != nil {
		pause := retryDelay(running, time.Now())
		ctrl.LoggerFrom(ctx).V(1).Info("runner is not ready yet", "reason", err.Error(), "pause", pause)
		return ctrl.Result{RequeueAfter: pause}, nil
	}
	if addresses, err = reachable(faults, addresses); err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	if err := r.create(ctx, run, starterJob(run, addresses)); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.advance(ctx, run, k6v1alpha1.StageStarted, func(status *k6v1alpha1.TestRunStatus) {
		setBoolean(status, conditionRunning, true)
	})
}

// awaitRunners finishes the run when no runner is active, regardless of the runners' results.
func (r *TestRunReconciler) awaitRunners(ctx context.Context, run *k6v1alpha1.TestRun) (ctrl.Result, error) {
	jobs := &batchv1.JobList{}
	if err := r.List(ctx, jobs, client.InNamespace(run.Namespace), client.MatchingLabels(runnerLabels(run.Name))); err != nil {
		return ctrl.Result{}, fmt.Errorf("listing the runners of TestRun %q: %w", run.Name, err)
	}
	var over int32
	for _, job := range jobs.Items {
		if job.Status.Active == 0 {
			over++
		}
	}
	if over < run.Spec.Parallelism {
		return ctrl.Result{RequeueAfter: r.PollInterval}, nil
	}
	return ctrl.Result{}, r.advance(ctx, run, k6v1alpha1.StageStopped, func(status *k6v1alpha1.TestRunStatus) {
		setBoolean(status, conditionRunning, false)
	})
}

func (r *TestRunReconciler) cleanUp(ctx context.Context, run *k6v1alpha1.TestRun) error {
	if run.Spec.Cleanup != k6v1alpha1.CleanupPost {
		return nil
	}
	if err := r.Delete(ctx, run); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting TestRun %q: %w", run.Name, err)
	}
	return nil
}

// advance writes the next stage. The API server rejects a stage from a stale cache, so no run
// returns to an earlier stage.
func (r *TestRunReconciler) advance(ctx context.Context, run *k6v1alpha1.TestRun, stage k6v1alpha1.Stage, set func(*k6v1alpha1.TestRunStatus)) error {
	before := run.DeepCopy()
	if set != nil {
		set(&run.Status)
	}
	run.Status.Stage = stage
	ctrl.LoggerFrom(ctx).Info("changing stage", "from", before.Status.Stage, "to", stage)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := client.IgnoreNotFound(r.Status().Patch(ctx, run, patch)); err != nil {
		return fmt.Errorf("updating the status of TestRun %q: %w", run.Name, err)
	}
	return nil
}

// create creates an object that the run owns. If an object exists that the run does not own,
// create returns an error.
func (r *TestRunReconciler) create(ctx context.Context, run *k6v1alpha1.TestRun, object client.Object) error {
	if err := controllerutil.SetControllerReference(run, object, r.Scheme()); err != nil {
		return fmt.Errorf("setting the owner of %q: %w", object.GetName(), err)
	}
	err := r.Create(ctx, object)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := r.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return fmt.Errorf("reading %q: %w", object.GetName(), err)
	}
	if !metav1.IsControlledBy(object, run) {
		return fmt.Errorf("%q exists; make sure you've deleted your previous run", object.GetName())
	}
	return nil
}
