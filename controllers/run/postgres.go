// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/prose"
)

// DatabaseProber asks PostgreSQL's servers.
type DatabaseProber interface {
	// Metrics asks the metrics port of an instance of CloudNativePG.
	Metrics(ctx context.Context, url string) (contract.PostgresMetrics, error)
	// Listens returns nil when somebody takes connections at host:port.
	Listens(ctx context.Context, address string) error
}

// provisionPostgres builds PostgreSQL as declared, or looks for the one that is
// already there.
func (r *Reconciler) provisionPostgres(ctx context.Context, s *scope) (environment.Readiness, error) {
	request := s.request()
	intents := postgres.Build(request)
	replacing, err := r.replacePostgres(ctx, s, intents)
	if err != nil {
		return environment.Readiness{}, err
	}
	if replacing {
		return environment.NotReady(v1alpha1.ReasonReplacing, "the PostgreSQL of an earlier configuration is being taken down"), nil
	}
	if request.System.Postgres == nil {
		return notDeclared(), nil
	}
	if err := r.applyAll(ctx, intents); err != nil {
		return environment.Readiness{}, err
	}
	if silent := r.silentDatabase(ctx, request); silent != nil {
		return *silent, nil
	}
	observed, err := r.observe(ctx, intents, map[string]string{contract.LabelPostgresCluster: request.PostgresName()}, s.now)
	if err != nil {
		return environment.Readiness{}, err
	}
	return postgres.Assess(request, observed), nil
}

// silentDatabase finds a server that should already be there and does not
// answer.
func (r *Reconciler) silentDatabase(ctx context.Context, request environment.Request) *environment.Readiness {
	for _, address := range postgres.ExternalAddresses(request) {
		if err := r.Databases.Listens(ctx, address); err != nil {
			silent := environment.NotReady(v1alpha1.ReasonUnreachable, fmt.Sprintf(
				"PostgreSQL at %s does not answer: %s; check host and port in system.postgres.external and that this cluster may connect to it",
				address, prose.Sentence(err.Error())))
			return &silent
		}
	}
	return nil
}

// replacePostgres deletes what was built from another declaration and says true
// until it is gone. Where everything is kept warm, what has another name stays.
func (r *Reconciler) replacePostgres(ctx context.Context, s *scope, intents []environment.Intent) (bool, error) {
	request, replacing := s.request(), false
	for _, kind := range component.PostgresKinds {
		objects, err := r.Cluster.ListOwned(ctx, s.experiment, kind, naming.ComponentLabels(request.Experiment, environment.ComponentPostgres))
		if err != nil {
			return false, err
		}
		for i := range objects {
			if staysUp(request, intents, &objects[i]) {
				continue
			}
			replacing = true
			if err := r.Cluster.Delete(ctx, s.experiment, &objects[i]); err != nil {
				return false, err
			}
		}
	}
	return replacing, nil
}

// staysUp reports whether an object of the environment may stay while the
// intents' run is on: it is one of them, or another declaration's that is kept
// warm.
func staysUp(request environment.Request, intents []environment.Intent, object *unstructured.Unstructured) bool {
	at := slices.IndexFunc(intents, func(intent environment.Intent) bool {
		return intent.GetKind() == object.GetKind() && intent.GetName() == object.GetName()
	})
	if at < 0 {
		return request.StaysWarm()
	}
	return !outdated(object, environment.FingerprintOf(intents[at]))
}
