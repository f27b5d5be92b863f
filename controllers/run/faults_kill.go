// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/load/faults"
	"perflab.dev/perflab/internal/text/prose"
)

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete

// podKiller deletes pods of the run's system.
type podKiller struct {
	endsByItself
	r *Reconciler
}

func (k podKiller) inject(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) (outcome, error) {
	if len(status.Targets) > 0 {
		return next(), k.strike(ctx, s, declared, status)
	}
	candidates, err := k.r.faultPods(ctx, s, *declared.Kill)
	if err != nil {
		return outcome{}, err
	}
	wanted := declared.Kill.PodsOrDefault()
	if len(candidates) < int(wanted) {
		s.notInjected("fault %q %s, but there %s", declared.Name, declared.Kill, prose.Verb(len(candidates), "is 1 such pod", fmt.Sprintf("are %d such pods", len(candidates))))
		return next(), nil
	}
	targets, drawn := faults.Choose(declared, &s.run.Spec, candidates, wanted), len(candidates)
	if declared.Kill.WholeNode {
		all, err := k.allPods(ctx, s)
		if err != nil {
			return outcome{}, err
		}
		targets, drawn = faults.AddNeighbors(targets, all), len(all)
	}
	if len(targets) > faults.MaxTargets {
		s.notInjected("fault %q: %d pods of the system run on the nodes, and a fault kills at most %d", declared.Name, len(targets), faults.MaxTargets)
		return next(), nil
	}
	status.Targets, status.Candidates = targets, int32(drawn)
	return onceWritten(), nil
}

// allPods are those of the whole system.
func (k podKiller) allPods(ctx context.Context, s *scope) ([]corev1.Pod, error) {
	var all []corev1.Pod
	for _, kill := range s.run.Spec.System.Kills() {
		pods, err := k.r.faultPods(ctx, s, kill)
		if err != nil {
			return nil, err
		}
		all = append(all, pods...)
	}
	return all, nil
}

// strike deletes the targets. A missing one makes the run invalid: it is unknown when and why it
// was deleted.
func (k podKiller) strike(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	for _, target := range status.Targets {
		key := client.ObjectKey{Namespace: s.run.Namespace, Name: target.Pod}
		deleted, err := k.r.Cluster.Kill(ctx, key, target.UID, declared.Kill.GracePeriodOrDefault())
		if err != nil {
			return err
		}
		if !deleted {
			s.notInjected("fault %q: pod %q was deleted before the fault began, or the operator stopped while it deleted the pod", declared.Name, target.Pod)
			return nil
		}
	}
	s.recordBegin(declared, status, k.r.Now())
	return nil
}

// observe records when the component, or the whole system, has as many ready pods as before.
func (k podKiller) observe(ctx context.Context, s *scope, declared v1alpha1.Fault, status *v1alpha1.RunFault) error {
	replaced := []v1alpha1.KillFault{*declared.Kill}
	if declared.Kill.WholeNode {
		replaced = s.run.Spec.System.Kills()
	}
	k.r.awaitReady(ctx, s, status, time.Time{}, replaced...)
	return nil
}

// awaitReady records when as many pods as before are ready, counting those created after a time.
func (r *Reconciler) awaitReady(ctx context.Context, s *scope, status *v1alpha1.RunFault, createdAfter time.Time, of ...v1alpha1.KillFault) {
	if status.Ready != nil {
		s.requeueAt(status.End.Time)
		return
	}
	s.requeueAt(s.now.Add(faultPollInterval))
	ready := int32(0)
	for _, kill := range of {
		pods, err := r.faultPods(ctx, s, kill)
		if err != nil {
			// Kafka may have no controller for a while.
			return
		}
		for _, pod := range pods {
			if environment.PodReady(pod) && pod.CreationTimestamp.After(createdAfter.Truncate(time.Second).Add(-time.Nanosecond)) {
				ready++
			}
		}
	}
	if ready >= status.Candidates {
		now := metav1.NewMicroTime(s.now)
		status.Ready = &now
	}
}

// faultPods are the pods that a fault may kill, read from the API server.
func (r *Reconciler) faultPods(ctx context.Context, s *scope, kill v1alpha1.KillFault) ([]corev1.Pod, error) {
	var pods []corev1.Pod
	seen := r.newLiveScope(s)
	for _, part := range component.All {
		found, err := part.FaultCandidates(ctx, seen, kill)
		if err != nil {
			return nil, componentError{part, err}
		}
		pods = append(pods, found...)
	}
	return pods, nil
}
