// SPDX-License-Identifier: Apache-2.0

package component

import (
	"cmp"
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/environment/restore"
)

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch

// restoredData is the content of the databases at the start of a run.
type restoredData struct{ Base }

// Provision creates the restore Job and reports its progress.
func (d restoredData) Provision(ctx context.Context, p *Scope) (Progress, error) {
	readiness, err := d.restore(ctx, p)
	return Progress{Readiness: readiness}, err
}

func (d restoredData) restore(ctx context.Context, p *Scope) (environment.Readiness, error) {
	hook := d.hook(p)
	if sql := hook.Restore.SQL; sql != nil {
		_, missing, err := p.ReadScriptFiles(ctx, p.Run.Namespace, sql.ConfigMap, "restore.sql")
		if err != nil {
			return environment.Readiness{}, err
		}
		if missing != nil {
			return *missing, nil
		}
	}
	intent := restore.Build(hook)
	if err := p.Cluster.ApplyOnce(ctx, intent); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := p.observe(ctx, []environment.Intent{intent}, map[string]string{
		v1alpha1.LabelExperiment: p.Run.Spec.Experiment, batchv1.JobNameLabel: intent.GetName(),
	})
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
	observed.Pods = NewLineage(object).Pods(observed.Pods)
	observed.Refused = p.PodRefusal(ctx, observed.Pods, p.Now, object)
	return restore.Assess(hook, job, observed), nil
}

// hook has the inputs of the Job.
func (restoredData) hook(p *Scope) restore.Hook {
	request := p.Request()
	hook := restore.Hook{
		Run: p.Run, Restore: *p.Run.Spec.Restore,
		Tenant: request.System.Target.Tenant, CallerImage: p.Settings.StarterImage, Pulls: request.Pulls,
	}
	switch {
	case hook.Restore.HTTP != nil:
		hook.URL = cmp.Or(moduleURL(p.Run, hook.Restore.HTTP.Module), TargetURL(p.Run))
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
