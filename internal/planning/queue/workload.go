// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment/podrequests"
	"perflab.dev/perflab/internal/naming"
)

// WorkloadKind is Kueue's kind of requests for quota.
var WorkloadKind = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Workload"}

// maxPodSets is the limit of pod sets in a Workload, in every version of Kueue that has the
// kind.
const maxPodSets = 8

// podGroup sums the requests of pods with the same node selector.
type podGroup struct {
	selector map[string]string
	requests corev1.ResourceList
}

// Workload returns the Kueue Workload for the runs of one block: the maximum that any of
// the systems requests, plus the runners of the loads. Pods with the same node selector
// become one pod with the sum of their requests, because quotas count sums.
func Workload(experiment *v1alpha1.PerfExperiment, version string, block int32, systems []v1alpha1.System) *unstructured.Unstructured {
	most := map[string]*podGroup{}
	for i := range systems {
		for key, amount := range groupRequests(&systems[i], experiment.Spec.Scenarios) {
			if most[key] == nil {
				most[key] = &podGroup{amount.selector, corev1.ResourceList{}}
			}
			raiseTo(most[key].requests, amount.requests)
		}
	}
	workload := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"queueName": experiment.Spec.Lane.Name, "podSets": podSets(most),
	}}}
	workload.SetGroupVersionKind(WorkloadKind.WithVersion(version))
	workload.SetNamespace(experiment.Namespace)
	workload.SetName(WorkloadName(experiment.Name, block))
	workload.SetLabels(naming.Labels(experiment.Name))
	workload.SetOwnerReferences([]metav1.OwnerReference{naming.Owner("PerfExperiment", experiment)})
	return workload
}

// WorkloadName returns the name of a block's Workload.
func WorkloadName(experiment string, block int32) string {
	return fmt.Sprintf("%s-block-%d", experiment, block)
}

// groupRequests sums the requests of pods by node selector.
func groupRequests(system *v1alpha1.System, scenarios []v1alpha1.Scenario) map[string]*podGroup {
	sums := map[string]*podGroup{}
	for _, pods := range podrequests.ForSystem(*system) {
		sum := groupFor(sums, pods.NodeSelector())
		for _, name := range counted {
			addTimes(sum.requests, name, pods.Requested(name), pods.Count)
		}
	}
	runners := corev1.ResourceList{}
	for i := range scenarios {
		raiseTo(runners, runnerRequests(&scenarios[i]))
	}
	for name, amount := range runners {
		addTimes(groupFor(sums, nil).requests, name, amount, 1)
	}
	return sums
}

// counted are the resources that quotas limit.
var counted = []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}

func runnerRequests(scenario *v1alpha1.Scenario) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for i := range scenario.Loads {
		for _, name := range counted {
			load := &scenario.Loads[i]
			addTimes(sum, name, podrequests.Requested(load.Resources, name), int(load.ParallelismOrDefault()))
		}
	}
	return sum
}

func groupFor(sums map[string]*podGroup, selector map[string]string) *podGroup {
	key := formatSelector(selector)
	if sums[key] == nil {
		sums[key] = &podGroup{selector, corev1.ResourceList{}}
	}
	return sums[key]
}

func addTimes(to corev1.ResourceList, name corev1.ResourceName, amount resource.Quantity, times int) {
	sum := to[name]
	for range times {
		sum.Add(amount)
	}
	to[name] = sum
}

// raiseTo raises amounts to those of another list.
func raiseTo(amounts, to corev1.ResourceList) {
	for name, amount := range to {
		if current, has := amounts[name]; !has || current.Cmp(amount) < 0 {
			amounts[name] = amount
		}
	}
}

// podSets returns the pod sets of a Workload. With more node selectors than allowed, the
// last set holds the rest, without a selector.
func podSets(most map[string]*podGroup) []any {
	var sets []any
	rest := &podGroup{nil, corev1.ResourceList{}}
	for i, key := range slices.Sorted(maps.Keys(most)) {
		if i < maxPodSets-1 || len(most) <= maxPodSets {
			sets = append(sets, podSet(fmt.Sprintf("pods-%d", i+1), most[key]))
			continue
		}
		for name, amount := range most[key].requests {
			addTimes(rest.requests, name, amount, 1)
		}
	}
	if len(most) > maxPodSets {
		sets = append(sets, podSet(fmt.Sprintf("pods-%d", maxPodSets), rest))
	}
	return sets
}

func podSet(name string, of *podGroup) any {
	requests := map[string]any{}
	for resource, amount := range of.requests {
		if !amount.IsZero() {
			requests[string(resource)] = amount.String()
		}
	}
	spec := map[string]any{"containers": []any{map[string]any{
		"name": "asks", "resources": map[string]any{"requests": requests},
	}}}
	if len(of.selector) > 0 {
		selector := map[string]any{}
		for key, value := range of.selector {
			selector[key] = value
		}
		spec["nodeSelector"] = selector
	}
	return map[string]any{"name": name, "count": int64(1), "template": map[string]any{"spec": spec}}
}

// Admitted reports whether Kueue has admitted a Workload, and else Kueue's message.
func Admitted(workload *unstructured.Unstructured) (admitted bool, says string) {
	// Conditions of another type are ignored.
	conditions, _, _ := unstructured.NestedSlice(workload.Object, "status", "conditions")
	for _, entry := range conditions {
		condition, is := entry.(map[string]any)
		if !is {
			continue
		}
		switch message, _ := condition["message"].(string); condition["type"] {
		case "Admitted":
			admitted = condition["status"] == "True"
		case "QuotaReserved":
			if condition["status"] != "True" {
				says = message
			}
		}
	}
	return admitted, says
}
