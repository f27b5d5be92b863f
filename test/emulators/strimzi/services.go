// SPDX-License-Identifier: Apache-2.0

package strimzi

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"perflab.dev/perflab/test/emulators/strimzi/api"
)

const portAgent = 8443

func newServices(kafka *api.Kafka, component string) []*corev1.Service {
	if component == componentZooKeeper {
		return zooKeeperServices(kafka)
	}
	return []*corev1.Service{bootstrapService(kafka), brokersService(kafka)}
}

// bootstrapService returns the Service that clients connect to. It selects ready brokers.
func bootstrapService(kafka *api.Kafka) *corev1.Service {
	selector := nodeSelector(kafka.Name, componentKafka)
	selector[api.LabelBrokerRole] = "true"
	ports := append([]corev1.ServicePort{servicePort("tcp-replication", portReplication)}, clientPorts(kafka)...)
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: kafka.Namespace,
			Name:      bootstrapServiceName(kafka.Name),
			Labels:    clusterLabels(kafka.Name, componentKafka),
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
			Labels:    clusterLabels(kafka.Name, componentKafka),
		},
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			Selector:                 nodeSelector(kafka.Name, componentKafka),
			Ports:                    ports,
			PublishNotReadyAddresses: true,
		},
	}
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
