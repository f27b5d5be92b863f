// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/expect"
)

func podsNamed(prefix string, count int) []v1alpha1.EffectivePod {
	var pods []v1alpha1.EffectivePod
	for i := range count {
		name := fmt.Sprintf("%s-%d", prefix, i)
		pods = append(pods, v1alpha1.EffectivePod{Name: name, UID: types.UID(name), Node: "node"})
	}
	return pods
}

func nodesNamed(count int) []v1alpha1.EffectiveNode {
	var nodes []v1alpha1.EffectiveNode
	for i := range count {
		nodes = append(nodes, v1alpha1.EffectiveNode{Name: fmt.Sprintf("node-%d", i)})
	}
	return nodes
}

func TestBound(t *testing.T) {
	modules := func(names ...string) []v1alpha1.EffectiveModule {
		var found []v1alpha1.EffectiveModule
		for i, name := range names {
			found = append(found, v1alpha1.EffectiveModule{Name: name, Pods: podsNamed(name, 50*(i+1))})
		}
		return found
	}
	for name, c := range map[string]struct {
		record      v1alpha1.EffectiveSystem
		pods, nodes int32
		listed      []int
	}{
		"Small":      {record: v1alpha1.EffectiveSystem{Modules: modules("a", "b"), Nodes: nodesNamed(200), KafkaPods: podsNamed("k", 400)}, listed: []int{50, 100}},
		"BigModule":  {record: v1alpha1.EffectiveSystem{Modules: modules("a", "b", "c")}, pods: 50, listed: []int{50, 100, 100}},
		"ManyNodes":  {record: v1alpha1.EffectiveSystem{Nodes: nodesNamed(201)}, nodes: 1},
		"Brokers":    {record: v1alpha1.EffectiveSystem{KafkaPods: podsNamed("k", 403)}, pods: 3},
		"Postgres":   {record: v1alpha1.EffectiveSystem{PostgresPods: podsNamed("p", 65)}, pods: 1},
		"LongNames":  {record: v1alpha1.EffectiveSystem{Modules: modules("a", strings.Repeat("b", 3000))}, pods: 68, listed: []int{41, 41}},
		"FewAndLong": {record: v1alpha1.EffectiveSystem{Modules: append(modules(strings.Repeat("b", 10_000)), v1alpha1.EffectiveModule{Name: "c", Pods: podsNamed("c", 2)})}, pods: 43, listed: []int{7, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			sentence := environment.Bound(&c.record)
			expect.Equal(t, []int32{c.pods, c.nodes}, []int32{c.record.MorePods, c.record.MoreNodes}, "pods and nodes that are not listed")
			var listed []int
			for _, module := range c.record.Modules {
				listed = append(listed, len(module.Pods))
			}
			expect.Equal(t, c.listed, listed, "pods listed of each module")
			if told := sentence != ""; told != (c.pods+c.nodes > 0) {
				t.Errorf("told is %q", sentence)
			}
		})
	}
}
