// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/naming"
)

func (r *RunReconciler) provisionKafka(ctx context.Context, s *runScope) (environment.Readiness, error) {
	if s.run.Spec.System.Kafka == nil {
		return notDeclared(), nil
	}
	version, _, err := r.Cluster.Serves(contract.KafkaGroupKind)
	if err != nil {
		return environment.Readiness{}, err
	}
	request := s.request()
	if served := kafka.AssessServed(request, version); !served.Ready {
		return served, nil
	}
	intents := kafka.Build(request, version)
	replacing, err := r.replaceKafka(ctx, request, intents, version)
	if err != nil {
		return environment.Readiness{}, err
	}
	if replacing {
		return environment.NotReady(v1alpha1.ReasonReplacing, "the Kafka of an earlier configuration is being taken down"), nil
	}
	if err := r.applyAll(ctx, intents); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := r.observe(ctx, intents, map[string]string{contract.LabelStrimziCluster: request.KafkaName()}, s.now)
	if err != nil {
		return environment.Readiness{}, err
	}
	if readiness := kafka.Assess(request, observed); !readiness.Ready {
		return readiness, nil
	}
	return r.provisionTopics(ctx, s, version)
}

func (r *RunReconciler) provisionTopics(ctx context.Context, s *runScope, version string) (environment.Readiness, error) {
	request := s.request()
	topics := kafka.Topics(request, version)
	if err := r.applyAll(ctx, topics); err != nil {
		return environment.Readiness{}, err
	}
	observed, err := r.observe(ctx, topics, nil, s.now)
	if err != nil {
		return environment.Readiness{}, err
	}
	return kafka.AssessTopics(request, observed), nil
}

// replaceKafka is replace for a whole Kafka: pools the new declaration does
// not have go as well, and topics go first, while their Kafka can still let
// go of them.
func (r *RunReconciler) replaceKafka(ctx context.Context, request environment.Request, intents []environment.Intent, version string) (bool, error) {
	wanted := environment.FingerprintOf(intents[0])
	kinds := []schema.GroupVersionKind{contract.KafkaKind(version), contract.KafkaNodePoolKind(version)}
	stale := false
	for _, kind := range kinds {
		objects, err := r.Cluster.List(ctx, kind, request.Namespace, naming.ComponentLabels(request.Experiment, environment.ComponentKafka))
		if err != nil {
			return false, err
		}
		for i := range objects {
			stale = stale || outdated(&objects[i], wanted)
		}
	}
	if !stale {
		return false, nil
	}
	gone, err := teardownKafka(ctx, r.Cluster, request.Namespace, request.Experiment, r.Now())
	return !gone, err
}
