// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

const portAgent = 8443

func (g Generation) newServices(kafka *api.Kafka, component string) []*corev1.Service {
	if component == componentZooKeeper {
		return zooKeeperServices(kafka)
	}
	return []*corev1.Service{g.bootstrapService(kafka), brokersService(kafka)}
}

// discovery is the label and the annotation of Services that clients connect to.
const discovery = "strimzi.io/discovery"

// bootstrapService returns the Service that clients connect to. It selects ready brokers.
func (g Generation) bootstrapService(kafka *api.Kafka) *corev1.Service {
	selector := nodeSelector(kafka.Name, componentKafka)
	selector[api.LabelBrokerRole] = "true"
	ports := append([]corev1.ServicePort{servicePort("tcp-replication", portReplication)}, clientPorts(kafka)...)
	if !g.ZooKeeper {
		for i := range ports {
			ports[i].TargetPort = intstr.FromString(ports[i].Name)
		}
	}
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   kafka.Namespace,
			Name:        bootstrapServiceName(kafka.Name),
			Labels:      merged(map[string]string{discovery: "true"}, supportLabels(kafka, componentKafka)),
			Annotations: map[string]string{discovery: discoveryText(kafka)},
		},
		Spec: corev1.ServiceSpec{Selector: selector, Ports: ports},
	}
}

// brokersService returns the Service that gives every node a DNS name, ready or not. Nodes must
// find each other before any of them can be ready.
func brokersService(kafka *api.Kafka) *corev1.Service {
	ports := append([]corev1.ServicePort{
		servicePort("tcp-ctrlplane", portControlPlane),
		servicePort("tcp-replication", portReplication),
		servicePort("tcp-kafkaagent", portAgent),
	}, clientPorts(kafka)...)
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kafka.Namespace,
			Name:      nodesServiceName(kafka.Name, componentKafka),
			Labels:    supportLabels(kafka, componentKafka),
		},
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			Selector:                 nodeSelector(kafka.Name, componentKafka),
			Ports:                    ports,
			PublishNotReadyAddresses: true,
		},
	}
}

// discoveryText describes the listeners for tools that look for them.
func discoveryText(kafka *api.Kafka) string {
	var listeners []string
	for _, l := range kafka.Spec.Kafka.Listeners {
		listeners = append(listeners, fmt.Sprintf(`{"port": %d, "tls": %t, "protocol": "kafka", "auth": "none"}`, l.Port, l.TLS))
	}
	return "[" + strings.Join(listeners, ", ") + "]"
}

func clientPorts(kafka *api.Kafka) []corev1.ServicePort {
	var ports []corev1.ServicePort
	for _, l := range kafka.Spec.Kafka.Listeners {
		name := "tcp-" + l.Name
		if l.Port == 9092 {
			name = "tcp-clients"
		}
		ports = append(ports, servicePort(name, l.Port))
	}
	return ports
}

func servicePort(name string, port int32) corev1.ServicePort {
	return corev1.ServicePort{
		Name:       name,
		Port:       port,
		TargetPort: intstr.FromInt32(port),
		Protocol:   corev1.ProtocolTCP,
	}
}
