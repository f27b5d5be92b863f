// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/sizelimit"
)

// Limits of the lists in a run's record, as in its schema.
const (
	maxKafkaPods    = 400
	maxPostgresPods = 64
	maxModulePods   = 100
	maxNodes        = 200
)

// Bound removes pods and nodes beyond the limits from a record, counts them in it, and
// returns a sentence about them; empty if it lists all. The schema would truncate the lists
// silently.
func Bound(record *v1alpha1.EffectiveSystem) (sentence string) {
	record.KafkaPods = bounded(record.KafkaPods, maxKafkaPods, &record.MorePods)
	record.PostgresPods = bounded(record.PostgresPods, maxPostgresPods, &record.MorePods)
	record.Nodes = bounded(record.Nodes, maxNodes, &record.MoreNodes)
	each := maxModulePods
	if all := countModulePods(record); len(all) > 0 {
		each = min(each, checkPodLimit(all, record.Modules))
	}
	for i := range record.Modules {
		pods := &record.Modules[i].Pods
		*pods = bounded(*pods, each, &record.MorePods)
	}
	if record.MorePods == 0 && record.MoreNodes == 0 {
		return ""
	}
	return fmt.Sprintf("the system is too large for the status of a run: %d of its pods, whose restarts are not counted, and %d of its nodes are omitted", record.MorePods, record.MoreNodes)
}

// countModulePods counts the pods of all modules.
func countModulePods(record *v1alpha1.EffectiveSystem) []v1alpha1.EffectivePod {
	var all []v1alpha1.EffectivePod
	for _, module := range record.Modules {
		all = append(all, module.Pods...)
	}
	return all
}

// checkPodLimit returns the number of pods to list per module.
func checkPodLimit(all []v1alpha1.EffectivePod, modules []v1alpha1.EffectiveModule) int {
	fitting := len(sizelimit.Within(all, sizelimit.Pods))
	if fitting == len(all) {
		return maxModulePods
	}
	sizes := make([]int, 0, len(modules))
	for _, module := range modules {
		sizes = append(sizes, len(module.Pods))
	}
	return share(sizes, fitting)
}

// share returns the largest bound at which the sizes add up to at most fitting.
func share(sizes []int, fitting int) int {
	slices.Sort(sizes)
	for i, size := range sizes {
		each := fitting / (len(sizes) - i)
		if size > each {
			return each
		}
		fitting -= size
	}
	return maxModulePods
}

func bounded[T any](list []T, most int, more *int32) []T {
	kept := list[:min(len(list), most)]
	*more += int32(len(list) - len(kept))
	return kept
}
