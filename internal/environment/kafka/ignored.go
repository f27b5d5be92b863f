// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"slices"
	"strings"
)

// Prefixes of broker settings that Strimzi 0.45 to 1.2 ignores, because it sets them itself
// or has fields for them, and the exceptions that it accepts.
var (
	ignored = strings.Fields("listeners advertised. broker. listener. host.name port inter.broker.listener.name sasl. ssl. " +
		"security. password. log.dir zookeeper.connect zookeeper.set.acl zookeeper.ssl zookeeper.clientcnxnsocket " +
		"authorizer. super.user cruise.control.metrics.topic cruise.control.metrics.reporter.bootstrap.servers " +
		"node.id process.roles controller. metadata.log.dir zookeeper.metadata.migration.enable " +
		"client.quota.callback.static.kafka.admin. client.quota.callback.static.produce client.quota.callback.static.fetch " +
		"client.quota.callback.static.storage.per.volume.limit.min.available. " +
		"client.quota.callback.static.excluded.principal.name.list prometheus.metrics.reporter. cordoned.log.dirs")
	taken = strings.Fields("zookeeper.connection.timeout.ms sasl.server.max.receive.size ssl.cipher.suites ssl.protocol " +
		"ssl.enabled.protocols ssl.secure.random.implementation cruise.control.metrics.topic.num.partitions " +
		"cruise.control.metrics.topic.replication.factor cruise.control.metrics.topic.retention.ms " +
		"cruise.control.metrics.topic.auto.create.retries cruise.control.metrics.topic.auto.create.timeout.ms " +
		"cruise.control.metrics.topic.min.insync.replicas broker.session.timeout.ms broker.heartbeat.interval.ms " +
		"controller.socket.timeout.ms controller.quorum.election.backoff.max.ms controller.quorum.election.timeout.ms " +
		"controller.quorum.fetch.timeout.ms")
)

// IsIgnored reports whether Strimzi ignores a setting in the brokers' configuration.
func IsIgnored(name string) bool {
	name = strings.ToLower(name)
	return !slices.Contains(taken, name) &&
		slices.ContainsFunc(ignored, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}
