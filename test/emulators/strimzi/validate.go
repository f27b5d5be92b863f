// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"strings"

	kafkav1 "perflab.dev/perflab/test/emulators/strimzi/api/v1"
)

// invalidSpec is a wish that cannot be met. Class is what the operator puts in
// the reason of its NotReady condition: the name of a Java exception.
type invalidSpec struct {
	Class   string
	Message string
}

func (e invalidSpec) Error() string { return e.Class + ": " + e.Message }

// check returns an invalidSpec for the first thing that makes the cluster impossible.
func check(kafka *kafkav1.Kafka, pools []kafkav1.KafkaNodePool) error {
	if len(pools) == 0 {
		return invalidSpec{
			"InvalidConfigurationException",
			"No KafkaNodePools found for Kafka cluster " + kafka.Name,
		}
	}
	if v := kafka.Spec.Kafka.Version; v != "" && v != KafkaVersion {
		return invalidSpec{"UnsupportedKafkaVersionException", fmt.Sprintf(
			"Unsupported Kafka.spec.kafka.version: %s. Supported versions are: [%s]", v, KafkaVersion)}
	}
	if err := checkRoles(kafka.Name, nodesOf(pools)); err != nil {
		return err
	}
	return checkListeners(kafka.Spec.Kafka.Listeners)
}

func checkRoles(cluster string, nodes []node) error {
	var missing []string
	for _, role := range []struct {
		name  string
		nodes []node
	}{
		{kafkav1.RoleBroker, brokersOf(nodes)},
		{kafkav1.RoleController, controllersOf(nodes)},
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

// checkListeners refuses what only this emulator cannot do, in its own words.
func checkListeners(listeners []kafkav1.Listener) error {
	for _, listener := range listeners {
		if listener.TLS || listener.Type != "internal" {
			return invalidSpec{"UnsupportedOperationException", fmt.Sprintf(
				"listener %s: the Strimzi emulator serves internal listeners without TLS only", listener.Name)}
		}
	}
	return nil
}
