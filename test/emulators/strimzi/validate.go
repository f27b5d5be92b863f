// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"strings"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

// invalidSpec is a spec that the operator can't fulfill. Class is the reason of its
// NotReady condition: the name of a Java exception.
type invalidSpec struct {
	Class   string
	Message string
}

// timedOut is the error for a component that was not ready within the operation timeout, with
// additional conditions of type Warning.
type timedOut struct {
	invalidSpec

	warnings []api.Condition
}

func (e invalidSpec) Error() string { return e.Class + ": " + e.Message }

// check returns an invalidSpec for the first error in the cluster's spec.
func (g Generation) check(kafka *api.Kafka, pools []api.KafkaNodePool) error {
	shape := g.checkPools
	if g.onZooKeeper(kafka) {
		shape = g.checkZooKeeper
	}
	if step := kafka.Annotations[api.AnnotationKRaft]; g.ZooKeeper && (step == "migration" || step == "rollback") {
		return invalidSpec{"UnsupportedOperationException", fmt.Sprintf(
			"%s: %s: the Strimzi emulator does not move clusters from ZooKeeper to KRaft", api.AnnotationKRaft, step)}
	}
	if err := shape(kafka, pools); err != nil {
		return err
	}
	if v := kafka.Spec.Kafka.Version; v != "" && v != g.KafkaVersion {
		return invalidSpec{"UnsupportedKafkaVersionException", fmt.Sprintf(
			"Unsupported Kafka.spec.kafka.version: %s. Supported versions are: [%s]", v, g.KafkaVersion)}
	}
	return checkListeners(kafka.Spec.Kafka.Listeners)
}

// checkPools checks a KRaft cluster, which needs pools of both roles.
func (g Generation) checkPools(kafka *api.Kafka, pools []api.KafkaNodePool) error {
	if g.ZooKeeper && !isEnabled(kafka, api.AnnotationNodePools) {
		return invalidSpec{
			"InvalidConfigurationException",
			"The UseKRaft feature gate can be used only together with a Kafka cluster based on the KafkaNodePool resources.",
		}
	}
	if len(pools) == 0 {
		return g.poolsMissing(kafka)
	}
	return checkRoles(kafka.Name, assignNodes(pools))
}

func (g Generation) poolsMissing(kafka *api.Kafka) error {
	message := "No KafkaNodePools found for Kafka cluster " + kafka.Name
	if g.ZooKeeper {
		message = "KafkaNodePools are enabled, but no KafkaNodePools found for Kafka cluster " + kafka.Name
	}
	return invalidSpec{"InvalidConfigurationException", message}
}

// checkZooKeeper checks fields that the schema leaves optional because KRaft does not need them.
func (g Generation) checkZooKeeper(kafka *api.Kafka, pools []api.KafkaNodePool) error {
	usesPools := isEnabled(kafka, api.AnnotationNodePools)
	var missing []string
	if kafka.Spec.Zookeeper == nil {
		missing = append(missing, "The .spec.zookeeper section of the Kafka custom resource is missing. "+
			"This section is required for a ZooKeeper-based cluster.")
	}
	if !usesPools && kafka.Spec.Kafka.Replicas == 0 {
		missing = append(missing, "The .spec.kafka.replicas property of the Kafka custom resource is missing. "+
			"This property is required for a ZooKeeper-based Kafka cluster that is not using Node Pools.")
	}
	if !usesPools && kafka.Spec.Kafka.Storage == nil {
		missing = append(missing, "The .spec.kafka.storage section of the Kafka custom resource is missing. "+
			"This section is required for a ZooKeeper-based Kafka cluster that is not using Node Pools.")
	}
	switch {
	case len(missing) > 0:
		return invalidSpec{"InvalidResourceException", fmt.Sprintf(
			"Kafka configuration is not valid: [%s]", strings.Join(missing, ", "))}
	case usesPools && len(pools) == 0:
		return g.poolsMissing(kafka)
	case usesPools:
		return invalidSpec{
			"UnsupportedOperationException",
			"the Strimzi emulator runs ZooKeeper-based clusters without node pools only",
		}
	}
	return nil
}

func checkRoles(cluster string, nodes []node) error {
	var missing []string
	for _, role := range []struct {
		name  string
		nodes []node
	}{
		{api.RoleBroker, brokers(nodes)},
		{api.RoleController, controllers(nodes)},
	} {
		if len(role.nodes) == 0 {
			missing = append(missing, fmt.Sprintf(
				"At least one KafkaNodePool with the %s role and at least one replica is required when KRaft mode is enabled", role.name))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return invalidSpec{"InvalidResourceException", fmt.Sprintf(
		"The Kafka cluster %s is invalid: [%s]", cluster, strings.Join(missing, ", "))}
}

// checkListeners rejects listeners that Strimzi supports and this emulator does not.
func checkListeners(listeners []api.Listener) error {
	for _, listener := range listeners {
		if listener.TLS || listener.Type != "internal" {
			return invalidSpec{"UnsupportedOperationException", fmt.Sprintf(
				"listener %s: the Strimzi emulator serves internal listeners without TLS only", listener.Name)}
		}
	}
	return nil
}
