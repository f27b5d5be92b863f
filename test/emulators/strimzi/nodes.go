// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"cmp"
	"fmt"
	"slices"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// node is one node of Kafka, or of its ZooKeeper: a wanted Pod.
type node struct {
	ID   int32
	Pool *api.KafkaNodePool
	// ZooKeeper is the address of the ensemble that holds a broker's metadata;
	// empty under KRaft.
	ZooKeeper string
}

func (n node) isController() bool { return slices.Contains(n.Pool.Spec.Roles, api.RoleController) }
func (n node) isBroker() bool     { return slices.Contains(n.Pool.Spec.Roles, api.RoleBroker) }
func (n node) isKafka() bool      { return !n.isZooKeeper() }
func (n node) isZooKeeper() bool  { return slices.Contains(n.Pool.Spec.Roles, roleZooKeeper) }

// hasControlPlane reports whether the node has the listener between controllers and
// brokers.
func (n node) hasControlPlane() bool { return n.isController() || n.ZooKeeper != "" }

func (n node) component() string {
	if n.isZooKeeper() {
		return componentZooKeeper
	}
	return componentKafka
}

// podName returns <cluster>-<pool>-<id>.
func (n node) podName() string {
	return fmt.Sprintf("%s-%s-%d", n.Pool.Labels[api.LabelCluster], n.Pool.Name, n.ID)
}

// podSetName returns <cluster>-<pool>.
func (n node) podSetName() string {
	return fmt.Sprintf("%s-%s", n.Pool.Labels[api.LabelCluster], n.Pool.Name)
}

// assignNodes assigns node ids to every pool, pool by pool in name order. A pool keeps the ids
// in its status, releases its highest ones when it shrinks, and takes the lowest free ids when
// it grows. The pools are not changed.
func assignNodes(pools []api.KafkaNodePool) []node {
	sorted := slices.SortedFunc(slices.Values(pools), func(a, b api.KafkaNodePool) int {
		return cmp.Compare(a.Name, b.Name)
	})
	kept := make([][]int32, len(sorted))
	used := map[int32]bool{}
	for i, pool := range sorted {
		ids := slices.Sorted(slices.Values(pool.Status.NodeIDs))
		kept[i] = ids[:min(len(ids), int(pool.Spec.Replicas))]
		for _, id := range kept[i] {
			used[id] = true
		}
	}
	var nodes []node
	for i := range sorted {
		ids := withFreeIDs(kept[i], int(sorted[i].Spec.Replicas), used)
		for _, id := range ids {
			nodes = append(nodes, node{ID: id, Pool: &sorted[i]})
		}
	}
	return nodes
}

// withFreeIDs extends ids to the wanted number with the lowest ids not in used, which it
// marks as used, and returns them in order.
func withFreeIDs(ids []int32, wanted int, used map[int32]bool) []int32 {
	all := slices.Clone(ids)
	for id := int32(0); len(all) < wanted; id++ {
		if !used[id] {
			used[id] = true
			all = append(all, id)
		}
	}
	slices.Sort(all)
	return all
}

func nodeIDs(nodes []node) []int32 {
	var ids []int32
	for _, n := range nodes {
		ids = append(ids, n.ID)
	}
	return ids
}

func controllers(nodes []node) []node { return filtered(nodes, node.isController) }
func brokers(nodes []node) []node     { return filtered(nodes, node.isBroker) }

func filtered(nodes []node, keep func(node) bool) []node {
	var kept []node
	for _, n := range nodes {
		if keep(n) {
			kept = append(kept, n)
		}
	}
	return kept
}
