// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/naming"
)

// stepModules starts the modules once what they connect to is there.
func (r *RunReconciler) stepModules(ctx context.Context, s *runScope) (outcome, error) {
	if s.status().Timings.Ready != nil {
		return next(), nil
	}
	request := s.request()
	intents := modules.Build(request, kafka.Env(request))
	if err := r.applyAll(ctx, intents); err != nil {
		return outcome{}, err
	}
	observed, err := r.observe(ctx, intents, naming.ComponentLabels(request.Experiment, environment.ComponentModule), s.now)
	if err != nil {
		return outcome{}, err
	}
	borrowed, err := r.borrowWorkloads(ctx, s)
	if err != nil {
		return outcome{}, err
	}
	readiness := environment.Both(modules.Assess(request, observed), borrowed)
	s.modules = &readiness
	if !readiness.Ready {
		return s.notReady("the modules", readiness), nil
	}
	return next(), nil
}
