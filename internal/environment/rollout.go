// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
)

// Rollout is the state of a workload's rollout.
type Rollout struct {
	// Module of the workload, and the workload's title in messages.
	Module, Title string
	// Applied: the workload has the wanted configuration.
	Applied bool
	// Settled: its controller has observed it and counts all pods as updated and ready.
	Settled bool
	// Refusal is why pods can't be created, if they can't.
	Refusal string
	// Current pods have the wanted template; Earlier ones have another, or are terminating.
	Current, Earlier []corev1.Pod
}

func (r Rollout) isReady() bool { return r.Applied && r.Settled && len(r.Earlier) == 0 }

func (r Rollout) isRolling() bool { return len(r.Earlier) > 0 }

func (r Rollout) isCreating() bool { return !r.Applied || !r.isStarted() }

// isStarted reports whether all of the workload's pods run.
func (r Rollout) isStarted() bool {
	return len(r.Current) > 0 && !slices.ContainsFunc(r.Current, func(pod corev1.Pod) bool {
		return pod.Status.Phase != corev1.PodRunning
	})
}

// ReadStatus reads the workload's status.
func (r *Rollout) ReadStatus(object *unstructured.Unstructured) {
	count := func(fields ...string) int64 {
		value, _, _ := unstructured.NestedInt64(object.Object, fields...)
		return value
	}
	wanted, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !found {
		wanted = 1
	}
	r.Settled = object.GetDeletionTimestamp() == nil &&
		count("status", "observedGeneration") >= object.GetGeneration() &&
		count("status", "replicas") == wanted &&
		count("status", "updatedReplicas") == wanted &&
		count("status", "readyReplicas") == wanted
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] == "ReplicaFailure" && condition["status"] == "True" {
			message, _ := condition["message"].(string)
			r.Refusal = prose.Sentence(message)
		}
	}
}

// SplitPods separates pods with a template's fingerprint from pods with another, or
// terminating ones. It drops finished pods.
func SplitPods(pods []corev1.Pod, fingerprint string) (current, earlier []corev1.Pod) {
	for _, pod := range pods {
		switch {
		case PodEnded(pod):
		case pod.DeletionTimestamp == nil && pod.Annotations[v1alpha1.AnnotationFingerprint] == fingerprint:
			current = append(current, pod)
		default:
			earlier = append(earlier, pod)
		}
	}
	return current, earlier
}

// AssessRollouts reports whether all workloads have rolled out, with no pod of an earlier
// configuration left. The noun names one of them.
func AssessRollouts(noun string, rollouts []Rollout, events []corev1.Event, now time.Time) Readiness {
	pending := slices.DeleteFunc(slices.Clone(rollouts), Rollout.isReady)
	count := prose.Partly(len(rollouts)-len(pending), len(rollouts), noun) + " ready"
	if len(pending) == 0 {
		return Ready(count)
	}
	var pods []corev1.Pod
	for _, rollout := range pending {
		pods = append(pods, rollout.Current...)
	}
	if trouble, found := PodTrouble(pods, events, now); found {
		return trouble
	}
	for _, rollout := range pending {
		if rollout.Refusal != "" {
			return NotReady(v1alpha1.ReasonRefused, fmt.Sprintf("the cluster refuses the pods of %s: %s", rollout.Title, rollout.Refusal))
		}
	}
	return earliestStage(pending, count)
}

// earliestStage returns the earliest stage that workloads wait for: later ones depend on
// it.
func earliestStage(pending []Rollout, count string) Readiness {
	stages := []struct {
		reason, message string
		includes        func(Rollout) bool
	}{
		{v1alpha1.ReasonRolling, "pods of an earlier configuration still exist", Rollout.isRolling},
		{v1alpha1.ReasonCreating, "pods are being created", Rollout.isCreating},
		{v1alpha1.ReasonNotReady, "pods are running but not ready yet", func(Rollout) bool { return true }},
	}
	for _, stage := range stages {
		var names []string
		for _, rollout := range pending {
			if stage.includes(rollout) {
				names = append(names, rollout.Module)
			}
		}
		if len(names) > 0 {
			return NotReady(stage.reason, fmt.Sprintf("%s; %s: %s", count, prose.Enumerate(names), stage.message))
		}
	}
	return NotReady(v1alpha1.ReasonNotReady, count)
}
