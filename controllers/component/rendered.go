// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/environment/postgres"
	"perflab.dev/perflab/internal/environment/rendering"
)

// RenderedDigests are digests of what the components render from the run's declaration. The
// request has no run name, which would make each digest unique.
func (p *Scope) RenderedDigests(ctx context.Context) ([]v1alpha1.RenderedDigest, error) {
	request := p.Request()
	request.Run = ""
	var rendered []v1alpha1.RenderedDigest
	for _, part := range All {
		intents, err := part.Render(ctx, p, request)
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", part.Describe().Name, err)
		}
		if len(intents) > 0 {
			rendered = append(rendered, rendering.Digest(part.Describe().Name, intents))
		}
	}
	return rendered, nil
}

// Render returns Strimzi's objects for the installed version.
func (kafkaCluster) Render(_ context.Context, p *Scope, request environment.Request) ([]environment.Intent, error) {
	if !kafka.NeedsStrimzi(request.System.Kafka) {
		return nil, nil
	}
	version, _, err := p.Cluster.Serves(contract.KafkaGroupKind)
	return kafka.Build(request, version), err
}

// Render returns CloudNativePG's objects.
func (postgresCluster) Render(_ context.Context, _ *Scope, request environment.Request) ([]environment.Intent, error) {
	return postgres.Build(request), nil
}

// Render returns the modules, and the changes to adopted workloads.
func (m moduleSet) Render(ctx context.Context, p *Scope, request environment.Request) ([]environment.Intent, error) {
	intents := modules.Build(request, kafka.Env(request))
	adoptions, err := m.adoptions(ctx, p, request)
	for _, adoption := range adoptions {
		if adoption.Intent != nil {
			intents = append(intents, adoption.Intent)
		}
	}
	return intents, err
}
