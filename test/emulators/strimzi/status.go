// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"encoding/base64"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kafkav1 "perflab.dev/perflab/test/emulators/strimzi/api/v1"
)

// withTimes returns the wanted conditions; one that was there before keeps the
// time of its last transition.
func withTimes(before, wanted []kafkav1.Condition, now time.Time) []kafkav1.Condition {
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

func condition(kind, reason, message string) kafkav1.Condition {
	return kafkav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message}
}

// setCreating is the first status of all. It has no observedGeneration.
func setCreating(status *kafkav1.KafkaStatus, now time.Time) {
	status.Conditions = withTimes(nil, []kafkav1.Condition{
		condition(kafkav1.ConditionNotReady, "Creating", "Kafka cluster is being deployed"),
	}, now)
}

// setFailed replaces Ready by NotReady and marks the generation as seen.
func setFailed(status *kafkav1.KafkaStatus, generation int64, cause invalidSpec, now time.Time) {
	status.Conditions = withTimes(status.Conditions, []kafkav1.Condition{
		condition(kafkav1.ConditionNotReady, cause.Class, cause.Message),
	}, now)
	status.ObservedGeneration = generation
}

// setPaused says that the object is left alone because it asks for it.
func setPaused(status *kafkav1.KafkaStatus, generation int64, now time.Time) {
	status.Conditions = withTimes(status.Conditions, []kafkav1.Condition{
		condition(kafkav1.ConditionReconciliationPaused, "", ""),
	}, now)
	status.ObservedGeneration = generation
}

// setReady is written only when every broker has answered.
func setReady(status *kafkav1.KafkaStatus, kafka *kafkav1.Kafka, nodes []node, now time.Time) {
	wanted := append(warnings(nodes), condition(kafkav1.ConditionReady, "", ""))
	status.Conditions = withTimes(status.Conditions, wanted, now)
	status.ObservedGeneration = kafka.Generation
	status.ClusterID = clusterID(kafka)
	status.KafkaVersion = KafkaVersion
	status.KafkaMetadataVersion = metadataVersion(kafka)
	status.OperatorLastSuccessfulVersion = OperatorVersion
	status.Listeners = listenerStatus(kafka)
	status.KafkaNodePools = poolRefs(nodes)
}

// warnings are conditions of type Warning that stand beside Ready.
func warnings(nodes []node) []kafkav1.Condition {
	var all []kafkav1.Condition
	if brokers := brokersOf(nodes); len(brokers) == 1 && usesEphemeral(brokers[0].Pool) {
		all = append(all, condition(kafkav1.ConditionWarning, "KafkaStorage",
			"A Kafka cluster with a single broker node and ephemeral storage will lose topic messages after any restart or rolling update."))
	}
	if controllers := controllersOf(nodes); len(controllers) == 1 && usesEphemeral(controllers[0].Pool) {
		all = append(all, condition(kafkav1.ConditionWarning, "KafkaStorage",
			"A Kafka cluster with a single controller node and ephemeral storage will lose data after any restart or rolling update."))
	}
	return all
}

func listenerStatus(kafka *kafkav1.Kafka) []kafkav1.ListenerStatus {
	host := fmt.Sprintf("%s.%s.svc", bootstrapServiceName(kafka.Name), kafka.Namespace)
	var all []kafkav1.ListenerStatus
	for _, l := range kafka.Spec.Kafka.Listeners {
		all = append(all, kafkav1.ListenerStatus{
			Name:             l.Name,
			Addresses:        []kafkav1.ListenerAddress{{Host: host, Port: l.Port}},
			BootstrapServers: fmt.Sprintf("%s:%d", host, l.Port),
		})
	}
	return all
}

func poolRefs(nodes []node) []kafkav1.NodePoolRef {
	var refs []kafkav1.NodePoolRef
	for _, n := range nodes {
		ref := kafkav1.NodePoolRef{Name: n.Pool.Name}
		if !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// poolStatus is what one pool's status should say.
func poolStatus(kafka *kafkav1.Kafka, nodes []node, pool *kafkav1.KafkaNodePool) kafkav1.KafkaNodePoolStatus {
	return kafkav1.KafkaNodePoolStatus{
		Conditions:         pool.Status.Conditions,
		ObservedGeneration: pool.Generation,
		NodeIDs:            idsOf(nodes, pool.Name),
		ClusterID:          clusterID(kafka),
		Roles:              pool.Spec.Roles,
		Replicas:           pool.Spec.Replicas,
		LabelSelector: fmt.Sprintf("%s=%s,%s=%s,%s=Kafka,%s=%s",
			kafkav1.LabelCluster, kafka.Name, kafkav1.LabelName, kafkaComponentName(kafka.Name),
			kafkav1.LabelKind, kafkav1.LabelPoolName, pool.Name),
	}
}

// clusterID is Kafka's form of a UUID, taken from the object's own so that a
// restarted emulator finds the same again.
func clusterID(kafka *kafkav1.Kafka) string {
	id, err := uuid.Parse(string(kafka.UID))
	if err != nil {
		id = uuid.NewSHA1(uuid.NameSpaceOID, []byte(kafka.UID))
	}
	return base64.RawURLEncoding.EncodeToString(id[:])
}

func metadataVersion(kafka *kafkav1.Kafka) string {
	if kafka.Spec.Kafka.MetadataVersion != "" {
		return kafka.Spec.Kafka.MetadataVersion
	}
	return DefaultMetadataVersion
}
