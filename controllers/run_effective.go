// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/results"
)

// stepEffective reads the configuration back from the running system. A run
// whose system is not the declared one does not count.
func (r *RunReconciler) stepEffective(ctx context.Context, s *runScope) (outcome, error) {
	timings := &s.status().Timings
	if timings.Ready != nil {
		return next(), nil
	}
	effective := &v1alpha1.EffectiveSystem{}
	if s.run.Spec.System.Kafka != nil {
		readable, err := r.effectiveKafka(ctx, s, effective)
		if err != nil {
			return outcome{}, err
		}
		if !readable {
			waiting := s.notReady("Kafka", *s.kafka)
			waiting.after = probePause
			return waiting, nil
		}
	}
	readable, err := r.effectivePostgres(ctx, s, effective)
	if err != nil {
		return outcome{}, err
	}
	if !readable {
		waiting := s.notReady("PostgreSQL's servers", *s.postgres)
		waiting.after = probePause
		return waiting, nil
	}
	if err := r.effectiveModules(ctx, s, effective); err != nil {
		return outcome{}, err
	}
	s.status().Effective = effective
	s.judgeDifferences()
	if s.fault == nil {
		s.mark(&timings.Ready)
	}
	return next(), nil
}

// differs notes in what the running system is not the declared one.
func (s *runScope) differs(differences ...string) {
	s.differences = append(s.differences, differences...)
}

// judgeDifferences makes one fault of all differences that were found.
func (s *runScope) judgeDifferences() {
	if len(s.differences) == 0 || s.fault != nil {
		return
	}
	s.fault = &results.Fault{
		Reason:  v1alpha1.ReasonEffectiveConfiguration,
		Message: strings.Join(s.differences, "; "),
	}
}

func (r *RunReconciler) effectiveModules(ctx context.Context, s *runScope, effective *v1alpha1.EffectiveSystem) error {
	pods := &corev1.PodList{}
	err := r.Cluster.Client.List(ctx, pods, client.InNamespace(s.run.Namespace),
		client.MatchingLabels(naming.ComponentLabels(s.run.Spec.Experiment, environment.ComponentModule)))
	if err != nil {
		return fmt.Errorf("listing the modules' pods: %w", err)
	}
	for _, module := range s.run.Spec.System.Modules {
		found := v1alpha1.EffectiveModule{Name: module.Name}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if pod.Labels[v1alpha1.LabelModule] != module.Name || pod.DeletionTimestamp != nil {
				continue
			}
			for _, status := range pod.Status.ContainerStatuses {
				if status.Ready {
					found.Replicas++
					found.ImageID = status.ImageID
				}
			}
		}
		effective.Modules = append(effective.Modules, found)
	}
	return nil
}
