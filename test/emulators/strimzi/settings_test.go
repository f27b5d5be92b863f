// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/test/emulators/strimzi/api"
)

func TestSettings(t *testing.T) {
	kafka := makeKafka("ns", "k")
	brokers := makePool(kafka, "broker", 1, api.RoleBroker)
	controllers := makePool(kafka, "controller", 1, api.RoleController)
	combined := makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker)
	dedicated := assignNodes([]api.KafkaNodePool{*brokers, *controllers})
	alone := assignNodes([]api.KafkaNodePool{*combined})

	for name, tc := range map[string]struct {
		nodes []node
		n     node
		want  string
	}{
		"combined": {alone, alone[0], `
node.id=0
process.roles=broker,controller
controller.listener.names=CONTROLPLANE-9090
controller.quorum.voters=0@k-dual-0.k-kafka-brokers.ns.svc.cluster.local:9090
listener.security.protocol.map=CONTROLPLANE-9090:PLAINTEXT,REPLICATION-9091:PLAINTEXT,PLAIN-9092:PLAINTEXT
listeners=CONTROLPLANE-9090://0.0.0.0:9090,REPLICATION-9091://0.0.0.0:9091,PLAIN-9092://0.0.0.0:9092
advertised.listeners=CONTROLPLANE-9090://k-dual-0.k-kafka-brokers.ns.svc:9090,REPLICATION-9091://k-dual-0.k-kafka-brokers.ns.svc:9091,PLAIN-9092://k-dual-0.k-kafka-brokers.ns.svc:9092
log.dirs=/var/lib/kafka/data-0/kafka-log0
metadata.log.dir=/var/lib/kafka/data-0/kafka-log0
inter.broker.listener.name=REPLICATION-9091
offsets.topic.replication.factor=1
`},
		"broker": {dedicated, dedicated[0], `
node.id=0
process.roles=broker
controller.listener.names=CONTROLPLANE-9090
controller.quorum.voters=1@k-controller-1.k-kafka-brokers.ns.svc.cluster.local:9090
listener.security.protocol.map=CONTROLPLANE-9090:PLAINTEXT,REPLICATION-9091:PLAINTEXT,PLAIN-9092:PLAINTEXT
listeners=REPLICATION-9091://0.0.0.0:9091,PLAIN-9092://0.0.0.0:9092
advertised.listeners=REPLICATION-9091://k-broker-0.k-kafka-brokers.ns.svc:9091,PLAIN-9092://k-broker-0.k-kafka-brokers.ns.svc:9092
log.dirs=/var/lib/kafka/data-0/kafka-log0
metadata.log.dir=/var/lib/kafka/data-0/kafka-log0
inter.broker.listener.name=REPLICATION-9091
offsets.topic.replication.factor=1
`},
		"controller": {dedicated, dedicated[1], `
node.id=1
process.roles=controller
controller.listener.names=CONTROLPLANE-9090
controller.quorum.voters=1@k-controller-1.k-kafka-brokers.ns.svc.cluster.local:9090
listener.security.protocol.map=CONTROLPLANE-9090:PLAINTEXT,REPLICATION-9091:PLAINTEXT,PLAIN-9092:PLAINTEXT
listeners=CONTROLPLANE-9090://0.0.0.0:9090
advertised.listeners=CONTROLPLANE-9090://k-controller-1.k-kafka-brokers.ns.svc:9090
log.dirs=/var/lib/kafka/data-0/kafka-log1
metadata.log.dir=/var/lib/kafka/data-0/kafka-log1
offsets.topic.replication.factor=1
`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := settings(kafka, tc.nodes, tc.n)
			expect.NoError(t, err)
			expect.Equal(t, strings.TrimPrefix(tc.want, "\n"), got)
		})
	}
}

func TestPropertiesOfUsers(t *testing.T) {
	kafka := makeKafka("ns", "k")
	kafka.Spec.Kafka.Config = api.Config{
		"log.retention.bytes":          apiextensionsv1.JSON{Raw: []byte(`1073741824000`)},
		"auto.create.topics.enable":    apiextensionsv1.JSON{Raw: []byte(`false`)},
		"log.cleanup.policy":           apiextensionsv1.JSON{Raw: []byte(`"compact"`)},
		"some.list":                    apiextensionsv1.JSON{Raw: []byte(`["a","b"]`)},
		"listeners":                    apiextensionsv1.JSON{Raw: []byte(`"PLAIN://:1"`)},
		"log.dirs":                     apiextensionsv1.JSON{Raw: []byte(`"/x"`)},
		"broker.heartbeat.interval.ms": apiextensionsv1.JSON{Raw: []byte(`2000`)},
	}
	nodes := assignNodes([]api.KafkaNodePool{*makePool(kafka, "dual", 1, api.RoleController, api.RoleBroker)})
	text, err := settings(kafka, nodes, nodes[0])
	expect.NoError(t, err)
	_, user, _ := strings.Cut(text, "inter.broker.listener.name=REPLICATION-9091\n")
	want := "auto.create.topics.enable=false\nbroker.heartbeat.interval.ms=2000\nlog.cleanup.policy=compact\nlog.retention.bytes=1073741824000\nsome.list=a,b\n"
	expect.Equal(t, want, user, "settings Strimzi owns are dropped, the rest is kept as written")
}
