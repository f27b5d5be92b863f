// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/naming"
)

// postgresKinds are the kinds of a PostgreSQL, in the order of their deletion: a Pooler reports
// errors without its Cluster.
var postgresKinds = []schema.GroupVersionKind{
	contract.PostgresPoolerKind,
	contract.PostgresClusterKind,
	corev1.SchemeGroupVersion.WithKind("ConfigMap"),
}

// +kubebuilder:rbac:groups=postgresql.cnpg.io,resources=clusters;poolers,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete

// postgresCluster is PostgreSQL, run by CloudNativePG or external.
type postgresCluster struct{ Base }

// RequiredOperators returns CloudNativePG unless the server is external.
func (postgresCluster) RequiredOperators(request environment.Request) []Operator {
	if len(postgres.Build(request)) == 0 {
		return nil
	}
	return []Operator{{contract.PostgresClusterKind.GroupKind(), "CloudNativePG"}}
}

// Provision builds PostgreSQL as declared, or checks that the external server accepts
// connections.
func (d postgresCluster) Provision(ctx context.Context, p *Scope) (Progress, error) {
	readiness, err := d.provision(ctx, p)
	return Progress{Readiness: readiness}, err
}

func (d postgresCluster) provision(ctx context.Context, p *Scope) (environment.Readiness, error) {
	request := p.Request()
	intents := postgres.Build(request)
	replacing, err := d.deleteOutdated(ctx, p, intents)
	if err != nil {
		return environment.Readiness{}, err
	}
	if replacing {
		return environment.NotReady(v1alpha1.ReasonReplacing, "waiting for an earlier PostgreSQL to be deleted: it has another configuration or did not become ready"), nil
	}
	if request.System.Postgres == nil {
		return notDeclared(), nil
	}
	if err := p.ApplyAll(ctx, intents); err != nil {
		return environment.Readiness{}, err
	}
	if silent := d.findUnreachable(ctx, p); silent != nil {
		return *silent, nil
	}
	observed, err := p.observe(ctx, intents, map[string]string{contract.LabelPostgresCluster: request.PostgresName()})
	if err != nil {
		return environment.Readiness{}, err
	}
	return postgres.Assess(request, observed), nil
}

// findUnreachable finds an external server that does not accept connections.
func (postgresCluster) findUnreachable(ctx context.Context, p *Scope) *environment.Readiness {
	for _, address := range postgres.ExternalAddresses(p.Request()) {
		if err := p.Databases.Listens(ctx, address); err != nil {
			silent := unreachable(fmt.Sprintf("PostgreSQL at %s does not answer", address), err)
			if silent.Reason == v1alpha1.ReasonUnreachable {
				silent.Message += "; check host and port in system.postgres.external, and that this cluster can connect to it"
			}
			return &silent
		}
	}
	return nil
}

// deleteOutdated deletes what was built from another declaration or is stuck, and reports
// whether it still exists. With reset KeepWarm it leaves clusters of other names.
func (postgresCluster) deleteOutdated(ctx context.Context, p *Scope, intents []environment.Intent) (replacing bool, err error) {
	request := p.Request()
	for _, kind := range postgresKinds {
		objects, err := p.Cluster.ListOwned(ctx, p.Experiment, kind, naming.ComponentLabels(request.Experiment, environment.ComponentPostgres))
		if err != nil {
			return false, err
		}
		for i := range objects {
			standsStill := objects[i].GetName() == request.PostgresName() && p.isStuck(&objects[i], v1alpha1.ConditionPostgresReady)
			if canStay(request, intents, &objects[i]) && !standsStill {
				continue
			}
			replacing = true
			if err := p.Cluster.Delete(ctx, p.Experiment, &objects[i]); err != nil {
				return false, err
			}
		}
	}
	return replacing, nil
}

// TearDown deletes what was built and waits for its pods, but not for those of someone else's
// Cluster of that name.
func (d postgresCluster) TearDown(ctx context.Context, down *Teardown) (TeardownState, error) {
	return down.tearDownOperated(ctx, d.Base, contract.PostgresClusterKind, contract.LabelPostgresCluster, naming.IsPostgres)
}
