// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/naming"
)

// stepModules starts the modules once what they connect to is there.
func (r *Reconciler) stepModules(ctx context.Context, s *scope) (outcome, error) {
	request := s.request()
	intents := modules.Build(request, kafka.Env(request))
	if request.Reset == v1alpha1.ResetReschedule {
		cleared, err := r.clearModules(ctx, s, intents)
		if err != nil {
			return outcome{}, err
		}
		if !cleared {
			leaving := environment.NotReady(v1alpha1.ReasonReplacing, "the pods of the run before are leaving their nodes")
			s.tell(v1alpha1.ConditionModulesReady, leaving)
			return s.notReady("the modules", leaving), nil
		}
	}
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
	s.tell(v1alpha1.ConditionModulesReady, readiness)
	if !readiness.Ready {
		return s.notReady("the modules", readiness), nil
	}
	return next(), nil
}

// clearModules deletes the Deployments of other runs and says whether all pods
// of theirs are gone: only then the scheduler places the new ones as on empty
// nodes, whichever module they are of.
func (r *Reconciler) clearModules(ctx context.Context, s *scope, intents []environment.Intent) (bool, error) {
	wanted := map[string]bool{}
	for _, intent := range intents {
		if intent.GetKind() != modules.WorkloadKind {
			continue
		}
		wanted[environment.FingerprintOf(intent)] = true
		current, err := r.Cluster.Get(ctx, intent.GroupVersionKind(), client.ObjectKeyFromObject(intent))
		if err != nil {
			return false, err
		}
		if current == nil || !outdated(current, environment.FingerprintOf(intent)) {
			continue
		}
		if err := r.Cluster.Delete(ctx, s.experiment, current); err != nil {
			return false, err
		}
	}
	pods := &corev1.PodList{}
	err := r.Cluster.Client.List(ctx, pods, client.InNamespace(s.run.Namespace),
		client.MatchingLabels(naming.ComponentLabels(s.run.Spec.Experiment, environment.ComponentModule)))
	if err != nil {
		return false, fmt.Errorf("listing the modules' pods: %w", err)
	}
	return !slices.ContainsFunc(pods.Items, func(pod corev1.Pod) bool {
		return !wanted[pod.Annotations[v1alpha1.AnnotationFingerprint]]
	}), nil
}
