// SPDX-License-Identifier: Apache-2.0

// Package strimzi emulates the Strimzi cluster operator for tests, on clusters
// where the real one cannot be installed, in one of two generations: 1.2.0 with
// the API v1, and 0.45.2 with the API v1beta2, the last that knows ZooKeeper. It
// is a fake of the operator only: the brokers it starts are real Apache Kafka,
// on KRaft or on a real ZooKeeper.
//
// It keeps what a client of Strimzi can see: names, labels, Services, ports,
// status fields and their oddities, StrimziPodSets and what their Pods are made
// of, node ids, rolling restarts and refusals. It acts on no KafkaTopic. It
// differs in what a client of plaintext listeners cannot see: no TLS between
// brokers, no certificates, no network policies, Secrets with nothing in them,
// a restart on every change of configuration, one Kafka version a generation.
// It refuses what it cannot emulate (TLS or external listeners) with a NotReady condition.
package strimzi

// Ports every node has beside those of its listeners.
const (
	portControlPlane = 9090
	portReplication  = 9091
)
