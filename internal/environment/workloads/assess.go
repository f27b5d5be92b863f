// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/prose"
)

// Assess says whether every borrowed workload has changed over to what the run
// wants, with no pod of an earlier configuration left.
func Assess(loans []Loan, now time.Time) environment.Readiness {
	for _, loan := range loans {
		if loan.Refusal != nil {
			return *loan.Refusal
		}
	}
	pending := slices.DeleteFunc(slices.Clone(loans), Loan.isReady)
	if len(pending) == 0 {
		return environment.Ready(prose.Partly(len(loans), len(loans), "borrowed workload") + " ready")
	}
	var pods []corev1.Pod
	var events []corev1.Event
	for _, loan := range pending {
		pods = append(pods, loan.CurrentPods()...)
		events = append(events, loan.Events...)
	}
	if trouble, found := environment.PodTrouble(pods, events, now); found {
		return trouble
	}
	if refused, found := refusal(pending); found {
		return refused
	}
	return waiting(pending, len(loans))
}

// Selector finds the pods of a workload.
func Selector(object *unstructured.Unstructured) (labels.Selector, error) {
	loan := Loan{original: object.Object}
	selector, err := metav1.LabelSelectorAsSelector(loan.selector())
	if err != nil {
		return nil, fmt.Errorf("reading the selector of %s %q: %w", object.GetKind(), object.GetName(), err)
	}
	return selector, nil
}

// Contested names the fields somebody else has changed since the run changed
// them.
func (l *Loan) Contested() []string {
	if !l.IsApplied() {
		return nil
	}
	return missing(l.Intent.Object, l.Object.Object)
}

// Contend says that others change the workload back, and what to do. The
// object must hold its managedFields, which say who they are.
func (l *Loan) Contend(fields []string, object *unstructured.Unstructured, manager string) {
	l.refuse(v1alpha1.ReasonWorkloadContested, fmt.Sprintf(
		"%s has changed %s of %s, which this run sets: let it leave these fields alone while the experiment lasts (docs/borrowed-workloads.md), or take them out of module %s",
		l.rival(object, manager), prose.Enumerate(fields), l.title(), l.Module.Name))
}

// rival is who owns a field that is not as intended.
func (l *Loan) rival(object *unstructured.Unstructured, manager string) string {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == manager || !l.opposes(entry, object) {
			continue
		}
		if entry.Subresource != "" {
			return fmt.Sprintf("%s (%s)", entry.Manager, entry.Subresource)
		}
		return entry.Manager
	}
	return "somebody"
}

// opposes reports whether an entry's manager has set a field otherwise than
// intended.
func (l *Loan) opposes(entry metav1.ManagedFieldsEntry, object *unstructured.Unstructured) bool {
	for path := range setOf(entry).Leaves().All() {
		intended, found := lookup(l.Intent.Object, path)
		if is, _ := lookup(object.Object, path); found && !reflect.DeepEqual(intended, is) {
			return true
		}
	}
	return false
}

// CurrentPods are the pods made from the template as the run wants it.
func (l *Loan) CurrentPods() []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(l.Pods), func(pod corev1.Pod) bool { return environment.PodOver(pod) || !l.isCurrent(pod) })
}

// earlierPods are those made from another one, or going away.
func (l *Loan) earlierPods() []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(l.Pods), func(pod corev1.Pod) bool { return environment.PodOver(pod) || l.isCurrent(pod) })
}

func (l *Loan) isCurrent(pod corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Annotations[v1alpha1.AnnotationFingerprint] == l.template
}

func (l Loan) isReady() bool {
	return l.IsApplied() && l.isSettled() && len(l.earlierPods()) == 0
}

// isSettled reports whether the workload's controller has seen it and counts
// as many pods as it should, all of them new and ready.
func (l *Loan) isSettled() bool {
	object := l.Object
	count := func(fields ...string) int64 {
		value, _, _ := unstructured.NestedInt64(object.Object, fields...)
		return value
	}
	wanted, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas")
	if !found {
		wanted = 1
	}
	return object.GetDeletionTimestamp() == nil &&
		count("status", "observedGeneration") >= object.GetGeneration() &&
		count("status", "replicas") == wanted &&
		count("status", "updatedReplicas") == wanted &&
		count("status", "readyReplicas") == wanted
}

// refusal finds a workload whose pods the cluster does not let in.
func refusal(pending []Loan) (environment.Readiness, bool) {
	for _, loan := range pending {
		conditions, _, _ := unstructured.NestedSlice(loan.Object.Object, "status", "conditions")
		for _, item := range conditions {
			condition, _ := item.(map[string]any)
			if condition["type"] != "ReplicaFailure" || condition["status"] != "True" {
				continue
			}
			message, _ := condition["message"].(string)
			return environment.NotReady(v1alpha1.ReasonRefused, fmt.Sprintf(
				"the cluster refuses the pods of %s: %s", loan.title(), prose.Sentence(message))), true
		}
	}
	return environment.Readiness{}, false
}

// waiting says what the workloads that are not ready wait for, the earliest
// stage first.
func waiting(pending []Loan, total int) environment.Readiness {
	stages := []struct {
		reason, doing string
		holds         func(Loan) bool
	}{
		{v1alpha1.ReasonRolling, "pods of an earlier configuration are still there", func(l Loan) bool { return len(l.earlierPods()) > 0 }},
		{v1alpha1.ReasonCreating, "pods are being made", func(l Loan) bool { return !l.IsApplied() || !l.isStarted() }},
		{v1alpha1.ReasonNotReady, "pods run, but don't answer their readiness probe yet", func(Loan) bool { return true }},
	}
	count := prose.Partly(total-len(pending), total, "borrowed workload") + " ready"
	for _, stage := range stages {
		held := slices.DeleteFunc(slices.Clone(pending), func(l Loan) bool { return !stage.holds(l) })
		if len(held) == 0 {
			continue
		}
		names := make([]string, 0, len(held))
		for _, loan := range held {
			names = append(names, loan.Module.Name)
		}
		return environment.NotReady(stage.reason, fmt.Sprintf("%s; %s: %s", count, prose.Enumerate(names), stage.doing))
	}
	return environment.NotReady(v1alpha1.ReasonNotReady, count)
}

// isStarted reports whether the workload has pods and all of them run.
func (l *Loan) isStarted() bool {
	current := l.CurrentPods()
	return len(current) > 0 && !slices.ContainsFunc(current, func(pod corev1.Pod) bool { return pod.Status.Phase != corev1.PodRunning })
}
