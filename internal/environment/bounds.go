// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"slices"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/sizelimit"
)

// What the record of a run lists, as its schema bounds it.
const (
	maxKafkaPods    = 400
	maxPostgresPods = 64
	maxModulePods   = 100
	maxNodes        = 200
)

// Bound leaves out of a record the pods and nodes it has no room for, counts them in it and
// says what follows; empty: it lists all. The schema would leave them out too, without a sign
// that the list is incomplete.
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
	return fmt.Sprintf("the system is larger than what a run lists: of its pods %d, whose restarts are not counted, and of its nodes %d are left out", record.MorePods, record.MoreNodes)
}

// countModulePods are those of all modules.
func countModulePods(record *v1alpha1.EffectiveSystem) []v1alpha1.EffectivePod {
	var all []v1alpha1.EffectivePod
	for _, module := range record.Modules {
		all = append(all, module.Pods...)
	}
	return all
}

// checkPodLimit is how many pods of each module there is room for.
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

// share is the largest bound with which no more of all is left than fits.
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
