// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/environment/restore"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/results"
)

// writtenPause lets the status of a pass be written before the next one acts on
// it.
const writtenPause = time.Second

// stepStop takes the modules of the run before down where data is brought back:
// they would write while it comes, or hold on to what was there before. It is
// done once per run: those that come up afterwards are the run's own.
func (r *Reconciler) stepStop(ctx context.Context, s *scope) (outcome, error) {
	timings := &s.status().Timings
	if s.run.Spec.Restore == nil || timings.Stopped != nil {
		return next(), nil
	}
	gone, err := r.stopModules(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	if !gone {
		stopping := environment.NotReady(v1alpha1.ReasonRestoring, "the modules of the run before are being taken down")
		s.tell(v1alpha1.ConditionModulesReady, stopping)
		return s.notReady("the modules", stopping), nil
	}
	s.mark(&timings.Stopped)
	return waitFor(writtenPause), nil
}

// stopModules deletes the Deployments the experiment has made and says true
// when their pods are gone as well.
func (r *Reconciler) stopModules(ctx context.Context, s *scope) (bool, error) {
	labels := naming.ComponentLabels(s.run.Spec.Experiment, environment.ComponentModule)
	// Borrowed workloads are not ours to delete, whatever their labels.
	deployments, err := r.Cluster.ListOwned(ctx, s.experiment, appsv1.SchemeGroupVersion.WithKind("Deployment"), labels)
	if err != nil {
		return false, err
	}
	for i := range deployments {
		if err := r.Cluster.Delete(ctx, s.experiment, &deployments[i]); err != nil {
			return false, err
		}
	}
	pods := &corev1.PodList{}
	if err := r.Cluster.Client.List(ctx, pods, client.InNamespace(s.run.Namespace), client.MatchingLabels(labels)); err != nil {
		return false, fmt.Errorf("listing the modules' pods: %w", err)
	}
	return len(deployments)+len(pods.Items) == 0, nil
}

// stepRestore brings data back while no module is up.
func (r *Reconciler) stepRestore(ctx context.Context, s *scope) (outcome, error) {
	if restore.NeedsModules(s.run.Spec.Restore) {
		return next(), nil
	}
	return r.bringBack(ctx, s)
}

// stepRestoreCall brings data back by a module that is up.
func (r *Reconciler) stepRestoreCall(ctx context.Context, s *scope) (outcome, error) {
	if !restore.NeedsModules(s.run.Spec.Restore) {
		return next(), nil
	}
	return r.bringBack(ctx, s)
}

func (r *Reconciler) bringBack(ctx context.Context, s *scope) (outcome, error) {
	timings := &s.status().Timings
	if s.run.Spec.Restore == nil || timings.Restored != nil {
		return next(), nil
	}
	readiness, err := r.restoring(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	s.tell(v1alpha1.ConditionDataRestored, readiness)
	switch {
	case readiness.Ready:
		s.mark(&timings.Restored)
		return next(), nil
	case readiness.Reason == v1alpha1.ReasonRestoreFailed:
		s.fault = &results.Fault{Reason: readiness.Reason, Message: "the data could not be brought back: " + readiness.Message}
		return next(), nil
	default:
		return s.notReady("the data", readiness), nil
	}
}

// restoring makes the Job and says how far it is.
func (r *Reconciler) restoring(ctx context.Context, s *scope) (environment.Readiness, error) {
	hook := r.hook(s)
	if sql := hook.Restore.SQL; sql != nil {
		_, missing, err := r.scriptIn(ctx, s.run.Namespace, sql.ConfigMap, "restore.sql")
		if err != nil {
			return environment.Readiness{}, err
		}
		if missing != nil {
			return *missing, nil
		}
	}
	intent := restore.Build(hook)
	if err := r.Cluster.Apply(ctx, intent); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := r.observe(ctx, []environment.Intent{intent}, map[string]string{batchv1.JobNameLabel: intent.GetName()}, s.now)
	if err != nil {
		return environment.Readiness{}, err
	}
	object := observed.Get(intent.GetKind(), intent.GetName())
	if object == nil {
		return restore.Assess(hook, nil, observed), nil
	}
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, job); err != nil {
		return environment.Readiness{}, fmt.Errorf("reading job %q: %w", intent.GetName(), err)
	}
	return restore.Assess(hook, job, observed), nil
}

func (r *Reconciler) hook(s *scope) restore.Hook {
	request := s.request()
	hook := restore.Hook{
		Run: s.run, Restore: *s.run.Spec.Restore,
		Tenant: request.System.Target.Tenant, CallerImage: r.Settings.StarterImage,
	}
	switch {
	case hook.Restore.HTTP != nil:
		hook.URL = moduleURL(s.run, hook.Restore.HTTP.Module)
	case hook.Restore.Job != nil:
		hook.Env = modules.HookEnvironment(request, kafka.Env(request), hook.Restore.Job.Env)
	case request.System.Postgres != nil:
		access := postgres.AccessTo(request)
		hook.Database = restore.Database{
			Host: access.Host, Port: access.Port, Name: access.Database,
			Secret: access.Secret, NameKey: contract.PostgresSecretDatabase,
		}
	}
	return hook
}

// moduleURL is the address of a module, by default of the target.
func moduleURL(run *v1alpha1.PerfRun, name string) string {
	for _, module := range run.Spec.System.Modules {
		if module.Name == name {
			service, port := environment.ModuleService(run.Spec.Experiment, module)
			return fmt.Sprintf("http://%s.%s.svc:%d", service, run.Namespace, port)
		}
	}
	return targetURL(run)
}
