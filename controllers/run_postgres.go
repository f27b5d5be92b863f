// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
)

func (r *RunReconciler) provisionPostgres(ctx context.Context, s *runScope) (environment.Readiness, error) {
	if s.run.Spec.System.Postgres == nil {
		return notDeclared(), nil
	}
	request := s.request()
	intents := postgres.Build(request)
	replacing, err := r.replace(ctx, intents)
	if err != nil {
		return environment.Readiness{}, err
	}
	if replacing {
		return environment.NotReady(v1alpha1.ReasonReplacing, "the PostgreSQL of an earlier configuration is being taken down"), nil
	}
	if err := r.applyAll(ctx, intents); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := r.observe(ctx, intents, map[string]string{contract.LabelPostgresCluster: request.PostgresName()}, s.now)
	if err != nil {
		return environment.Readiness{}, err
	}
	return postgres.Assess(request, observed), nil
}
