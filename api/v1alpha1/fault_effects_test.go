// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/expect"
)

// Plans, reports and messages say what a fault does.
func TestFaultEffects(t *testing.T) {
	kill := func(kill v1alpha1.KillFault) v1alpha1.Fault { return v1alpha1.Fault{Kill: &kill} }
	restart := func(restart v1alpha1.RestartFault) v1alpha1.Fault { return v1alpha1.Fault{Restart: &restart} }
	creates := func(manifest string) v1alpha1.Fault {
		return v1alpha1.Fault{Resource: &v1alpha1.ResourceFault{Manifest: runtime.RawExtension{Raw: []byte(manifest)}}}
	}
	for want, fault := range map[string]v1alpha1.Fault{
		"kills 1 pod of module gateway":   kill(v1alpha1.KillFault{Module: "gateway"}),
		"kills Kafka's active controller": kill(v1alpha1.KillFault{Kafka: v1alpha1.KafkaController}),
		"kills 2 pods of PostgreSQL's replicas, with all pods of the system on the same node": kill(v1alpha1.KillFault{
			Postgres: v1alpha1.PostgresReplica, Pods: ptr.To[int32](2), WholeNode: true,
		}),
		"restarts the pods of module gateway with a memory limit of 280Mi": restart(v1alpha1.RestartFault{Module: "gateway", Memory: ptr.To(resource.MustParse("280Mi"))}),
		"upgrades the nodes of Kafka to 4.3.1":                             restart(v1alpha1.RestartFault{Kafka: &v1alpha1.KafkaRestart{Version: "4.3.1"}}),
		"promotes a PostgreSQL replica to primary":                         {Switchover: &v1alpha1.SwitchoverFault{}},
		`raises the partitions of topic group "idle" to 3`:                 {Partitions: &v1alpha1.PartitionsFault{Group: "idle", Count: 3}},
		"creates a custom resource, NetworkChaos":                          creates(`{"kind": "NetworkChaos"}`),
		"creates a custom resource":                                        creates(`nothing`),
	} {
		expect.Equal(t, want, fault.Effect())
	}
}
