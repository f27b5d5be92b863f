// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// withTimes returns the wanted conditions. A condition that has not changed keeps its
// transition time.
func withTimes(before, wanted []api.Condition, now time.Time) []api.Condition {
	all := slices.Clone(wanted)
	for i, condition := range all {
		all[i].LastTransitionTime = now.UTC().Format(time.RFC3339Nano)
		for _, old := range before {
			if old.Type == condition.Type && old.Status == condition.Status &&
				old.Reason == condition.Reason && old.Message == condition.Message {
				all[i].LastTransitionTime = old.LastTransitionTime
			}
		}
	}
	return all
}

func condition(kind, reason, message string) api.Condition {
	return api.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// setCreating sets the first status. It has observed no generation.
func setCreating(status *api.KafkaStatus, now time.Time) {
	status.Conditions = withTimes(nil, []api.Condition{
		condition(api.ConditionNotReady, "Creating", "Kafka cluster is being deployed"),
	}, now)
	status.ObservedGeneration = new(int64(0))
}

// setFailed replaces Ready by NotReady, keeps warnings, and marks the generation as
// observed.
func setFailed(status *api.KafkaStatus, generation int64, cause invalidSpec, warnings []api.Condition, now time.Time) {
	wanted := append(slices.Clone(warnings), condition(api.ConditionNotReady, cause.Class, cause.Message))
	status.Conditions = withTimes(status.Conditions, wanted, now)
	status.ObservedGeneration = &generation
}

// setPaused reports that reconciliation is paused by annotation.
func setPaused(status *api.KafkaStatus, generation int64, now time.Time) {
	status.Conditions = withTimes(status.Conditions, []api.Condition{
		condition(api.ConditionReconciliationPaused, "", ""),
	}, now)
	status.ObservedGeneration = &generation
}

// setReady requires that every broker has answered; one of them reports the cluster's id.
func (g Generation) setReady(status *api.KafkaStatus, kafka *api.Kafka, nodes []node, clusterID string, now time.Time) {
	wanted := append(warnings(nodes), condition(api.ConditionReady, "", ""))
	status.Conditions = withTimes(status.Conditions, wanted, now)
	status.ObservedGeneration = new(kafka.Generation)
	status.ClusterID = clusterID
	status.KafkaVersion = g.KafkaVersion
	status.OperatorLastSuccessfulVersion = g.OperatorVersion
	status.Listeners = listenerStatus(kafka)
	if g.ZooKeeper {
		// Fields that v1 no longer has.
		status.KafkaMetadataState = g.metadataState(kafka)
		status.RegisteredNodeIDs = nodeIDs(filtered(nodes, node.isKafka))
	} else {
		status.ClusterSecurity = &api.ClusterSecurity{Authentication: api.SecurityType{Type: "strimzi-mtls"}, Encryption: api.SecurityType{Type: "strimzi-tls"}}
	}
	if !g.onZooKeeper(kafka) {
		status.KafkaMetadataVersion = g.metadataVersion(kafka)
		status.KafkaNodePools = poolRefs(nodes)
	}
}

// warnings returns the conditions of type Warning, in addition to Ready.
func warnings(nodes []node) []api.Condition {
	var all []api.Condition
	if ensemble := filtered(nodes, node.isZooKeeper); len(ensemble) > 0 {
		all = append(all, condition(api.ConditionWarning, "ZooKeeperRemoval",
			"Support for ZooKeeper-based Apache Kafka clusters will be removed in the next Strimzi release (0.46.0). Please migrate to KRaft."))
	}
	if brokers := brokers(nodes); len(brokers) == 1 && usesEphemeral(brokers[0].Pool) {
		all = append(all, condition(api.ConditionWarning, "KafkaStorage",
			"A Kafka cluster with a single broker node and ephemeral storage will lose topic messages after any restart or rolling update."))
	}
	if controllers := controllers(nodes); len(controllers) == 1 && usesEphemeral(controllers[0].Pool) {
		all = append(all, condition(api.ConditionWarning, "KafkaStorage",
			"A Kafka cluster with a single controller node and ephemeral storage will lose data after any restart or rolling update."))
	}
	return all
}

func listenerStatus(kafka *api.Kafka) []api.ListenerStatus {
	host := fmt.Sprintf("%s.%s.svc", bootstrapServiceName(kafka.Name), kafka.Namespace)
	var all []api.ListenerStatus
	for _, l := range kafka.Spec.Kafka.Listeners {
		all = append(all, api.ListenerStatus{
			Name:             l.Name,
			Addresses:        []api.ListenerAddress{{Host: host, Port: l.Port}},
			BootstrapServers: fmt.Sprintf("%s:%d", host, l.Port),
		})
	}
	return all
}

func poolRefs(nodes []node) []api.NodePoolRef {
	var refs []api.NodePoolRef
	for _, n := range nodes {
		ref := api.NodePoolRef{Name: n.Pool.Name}
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// poolStatus returns the wanted status of one pool.
func poolStatus(kafka *api.Kafka, nodes []node, pool *api.KafkaNodePool) api.KafkaNodePoolStatus {
	return api.KafkaNodePoolStatus{
		Conditions:         append([]api.Condition{}, pool.Status.Conditions...),
		ObservedGeneration: pool.Generation,
		NodeIDs:            nodeIDs(filtered(nodes, func(n node) bool { return n.Pool.Name == pool.Name })),
		ClusterID:          clusterID(kafka),
		Roles:              pool.Spec.Roles,
		Replicas:           pool.Spec.Replicas,
		LabelSelector: fmt.Sprintf("%s=%s,%s=%s,%s=Kafka,%s=%s",
			api.LabelCluster, kafka.Name, api.LabelName, componentName(kafka.Name, componentKafka),
			api.LabelKind, api.LabelPoolName, pool.Name),
	}
}

// clusterID returns the object's UID in Kafka's form, so that a restarted emulator computes the
// same id.
func clusterID(kafka *api.Kafka) string {
	id, err := uuid.Parse(string(kafka.UID))
	if err != nil {
		id = uuid.NewSHA1(uuid.NameSpaceOID, []byte(kafka.UID))
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}
