// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

func TestNodesOf(t *testing.T) {
	kafka := makeKafka("ns", "k")
	pool := func(name string, replicas int32, recorded ...int32) api.KafkaNodePool {
		p := *makePool(kafka, name, replicas, api.RoleBroker)
		p.Status.NodeIDs = recorded
		return p
	}
	for name, tc := range map[string]struct {
		reason string
		pools  []api.KafkaNodePool
		want   []string
	}{
		"new pools": {
			reason: "ids go pool by pool in name order, whatever order the pools come in",
			pools:  []api.KafkaNodePool{pool("controller", 1), pool("broker", 2)},
			want:   []string{"k-broker-0", "k-broker-1", "k-controller-2"},
		},
		"a pool grows": {
			reason: "recorded ids stay, the new node takes the lowest free id",
			pools:  []api.KafkaNodePool{pool("broker", 2, 0), pool("controller", 1, 1)},
			want:   []string{"k-broker-0", "k-broker-2", "k-controller-1"},
		},
		"a pool shrinks": {
			reason: "the highest id goes",
			pools:  []api.KafkaNodePool{pool("broker", 1, 0, 2), pool("controller", 1, 1)},
			want:   []string{"k-broker-0", "k-controller-1"},
		},
		"a pool before the others in name order comes later": {
			reason: "existing nodes keep their ids",
			pools:  []api.KafkaNodePool{pool("zone-b", 1, 0), pool("zone-a", 1)},
			want:   []string{"k-zone-a-1", "k-zone-b-0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range nodesOf(tc.pools) {
				got = append(got, n.podName())
			}
			expect.Equal(t, tc.want, got, "%s", tc.reason)
		})
	}
}
