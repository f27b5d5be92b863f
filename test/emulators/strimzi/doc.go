// SPDX-License-Identifier: Apache-2.0

// Package strimzi emulates the Strimzi cluster operator for tests, on clusters where the real
// one can't be installed. It emulates one of two generations: 1.2.0 with the API v1, or 0.45.2
// with the API v1beta2, the last one with ZooKeeper. Only the operator is emulated: the brokers
// that it starts are real Apache Kafka, on KRaft or on a real ZooKeeper.
//
// The package emulates everything that a client of Strimzi can see: names, labels, Services,
// ports, status fields with their peculiarities, StrimziPodSets and their Pods, node ids,
// rolling restarts and rejections. It does not reconcile KafkaTopics. It differs only where a
// client of plaintext listeners can't see it: no TLS between brokers, no certificates, no
// network policies, empty Secrets, a restart on every change of configuration, one Kafka
// version per generation. It rejects what it can't emulate (TLS or external listeners) with a
// NotReady condition.
package strimzi

// Ports of every node in addition to those of its listeners.
const (
	portControlPlane = 9090
	portReplication  = 9091
)
