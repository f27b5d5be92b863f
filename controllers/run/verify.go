// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/measure/results"
)

// stepVerify compares the running system with its declaration. The run is invalid if they
// differ.
func (r *Reconciler) stepVerify(ctx context.Context, s *scope) (outcome, error) {
	record, seen := &v1alpha1.EffectiveSystem{}, r.newLiveScope(s)
	var pods []corev1.Pod
	var differences []string
	for _, part := range component.All {
		proof, err := part.Verify(ctx, seen, record)
		if err != nil {
			return outcome{}, componentError{part, err}
		}
		if proof.Pending != nil {
			return s.reportProgress(part, component.Progress{Readiness: *proof.Pending, RequeueAfter: component.ProbeInterval}), nil
		}
		pods, differences = append(pods, proof.Pods...), append(differences, proof.Differences...)
	}
	if err := recordNodes(ctx, seen, record, pods); err != nil {
		return outcome{}, err
	}
	if sentence := environment.Bound(record); sentence != "" {
		s.warn(sentence)
	}
	if err := r.priceNodes(ctx, s, record); err != nil {
		return outcome{}, err
	}
	s.status().Effective = record
	s.evidence().Versions = seen.Versions(ctx, pods)
	s.recordImage("operator", r.OperatorImage(ctx))
	if err := r.recordRendered(ctx, s, seen); err != nil {
		return outcome{}, err
	}
	s.setDifferences(differences)
	if s.fault == nil {
		s.stamp(&s.status().Timings.Ready)
	}
	return next(), nil
}

// recordNodes records the nodes that run pods of the system.
func recordNodes(ctx context.Context, seen *component.Scope, record *v1alpha1.EffectiveSystem, pods []corev1.Pod) error {
	counts := map[string]int32{}
	for _, pod := range pods {
		counts[pod.Spec.NodeName]++
	}
	delete(counts, "")
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		node, err := seen.Node(ctx, name)
		if err != nil {
			return err
		}
		recorded := v1alpha1.EffectiveNode{Name: name, Pods: counts[name]}
		if node != nil {
			recorded.InstanceType = node.Labels[corev1.LabelInstanceTypeStable]
		}
		record.Nodes = append(record.Nodes, recorded)
	}
	return nil
}

// stepVerifyAfterLoad compares them again after the loads.
func (r *Reconciler) stepVerifyAfterLoad(ctx context.Context, s *scope) (outcome, error) {
	record := s.status().Effective
	if record == nil {
		return next(), nil
	}
	var differences []string
	for _, part := range component.All {
		proof, err := part.VerifyAfterLoad(ctx, r.newLiveScope(s), record)
		if err != nil {
			return outcome{}, componentError{part, err}
		}
		if proof.Pending != nil {
			s.loadMessage = "the loads have ended; " + proof.Pending.Message
			return waitFor(component.ProbeInterval), nil
		}
		s.setFault(proof.Fault)
		differences = append(differences, proof.Differences...)
	}
	s.setDifferences(differences)
	return next(), nil
}

// setDifferences makes one fault of all differences.
func (s *scope) setDifferences(differences []string) {
	if len(differences) == 0 || s.fault != nil {
		return
	}
	s.fault = &results.Fault{
		Reason:  v1alpha1.ReasonEffectiveConfiguration,
		Message: strings.Join(differences, "; "),
	}
}

// stepRestarts counts how often containers of the system ended during the loads. The run is
// invalid if more did than allowed.
func (r *Reconciler) stepRestarts(ctx context.Context, s *scope) (outcome, error) {
	record, ready := s.status().Effective, s.status().Timings.Ready
	if record == nil || ready == nil {
		return next(), nil
	}
	message, err := r.restarts(ctx, s, r.newScope(s))
	if message != "" {
		message, err = r.restarts(ctx, s, r.newLiveScope(s))
	}
	if err != nil {
		return outcome{}, err
	}
	if message != "" {
		s.setFault(&results.Fault{Reason: v1alpha1.ReasonRestarts, Message: message})
	}
	return next(), nil
}

// restarts returns a message with the containers that ended, if more did than allowed.
func (r *Reconciler) restarts(ctx context.Context, s *scope, pass *component.Scope) (string, error) {
	var restarted []environment.Restarted
	for _, part := range component.All {
		counted, err := part.CountRestarts(ctx, pass, s.status().Effective)
		if err != nil {
			return "", componentError{part, err}
		}
		restarted = append(restarted, counted...)
	}
	var all int32
	var pods []corev1.Pod
	for _, one := range restarted {
		all += one.Times
		pods = append(pods, one.Pods...)
	}
	if gone := faults.TrackReplacements(s.status().Faults, s.status().Effective, pods, s.now); gone > 0 {
		all += gone
		restarted = append(restarted, environment.Restarted{Part: "replacement pods", Times: gone})
	}
	allowed := s.run.Spec.Validity.MaxRestartsOrDefault() + faults.AllowRestarts(s.run.Spec.Scenario.Faults, s.status().Faults, all, s.now)
	return environment.RestartFault(restarted, allowed, s.status().Timings.Ready.Time), nil
}
