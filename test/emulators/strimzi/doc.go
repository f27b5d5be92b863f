// SPDX-License-Identifier: Apache-2.0

// Package strimzi emulates the Strimzi cluster operator 1.2.0 and its topic
// operator for tests, on clusters where the real ones cannot be installed. It
// is a fake of the operators only: the brokers it starts are real Apache Kafka
// in KRaft mode.
//
// It keeps what a client of Strimzi can see: names, labels, Services, ports,
// status fields and their oddities, node ids, rolling restarts, the topic
// operator's batches, finalizers and refusals. It differs in what a client of
// plaintext listeners cannot see: no TLS between brokers, no certificates, no
// network policies, Pods owned by the Kafka object and not by a StrimziPodSet,
// a restart on every change of configuration, one supported Kafka version.
// It refuses what it cannot emulate (TLS or external listeners) with a NotReady condition.
package strimzi

// The versions this emulator stands for.
const (
	OperatorVersion        = "1.2.0"
	KafkaVersion           = "4.3.1"
	DefaultMetadataVersion = "4.3-IV0"
)

// Ports every node has beside those of its listeners.
const (
	portControlPlane = 9090
	portReplication  = 9091
)
