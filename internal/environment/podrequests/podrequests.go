// SPDX-License-Identifier: Apache-2.0

// Package podrequests says what a system asks of the nodes it runs on: pods, with what
// they request and where they may be. It is pure.
package podrequests

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
)

// Pods are alike.
type Pods struct {
	// Title they are, as a sentence names them: "module mod-users".
	Title     string
	Count     int
	Resources corev1.ResourceRequirements
	Placement *v1alpha1.Placement
}

// ForSystem are the pods of a system, but for those that others run.
func ForSystem(system v1alpha1.System) []Pods {
	var all []Pods
	for i := range system.Modules {
		module := &system.Modules[i]
		count := 1
		if module.Replicas != nil {
			count = int(*module.Replicas)
		}
		all = append(all, Pods{"module " + module.Name, count, module.Resources, module.Placement})
	}
	if kafka := system.Kafka; kafka != nil && kafka.External == nil {
		all = append(all, kafkaPods("the brokers of Kafka", &kafka.Brokers))
		if kafka.Controllers != nil {
			all = append(all, kafkaPods("the controllers of Kafka", kafka.Controllers))
		}
		if kafka.ZooKeeper != nil {
			all = append(all, kafkaPods("ZooKeeper", kafka.ZooKeeper))
		}
	}
	if postgres := system.Postgres; postgres != nil && postgres.External == nil {
		all = append(all, Pods{"PostgreSQL", int(postgres.Instances), postgres.Resources, postgres.Placement})
	}
	return all
}

func kafkaPods(who string, nodes *v1alpha1.KafkaNodes) Pods {
	return Pods{who, int(nodes.Replicas), nodes.Resources, nodes.Placement}
}

// Requested is what each of the pods requests. What is limited and not requested is
// requested as it is limited.
func (p Pods) Requested(name corev1.ResourceName) resource.Quantity {
	return Requested(p.Resources, name)
}

// Requested is what a container with these resources requests.
func Requested(resources corev1.ResourceRequirements, name corev1.ResourceName) resource.Quantity {
	if asked, given := resources.Requests[name]; given {
		return asked
	}
	return resources.Limits[name]
}

// NodeSelector are the labels of the nodes the pods may be on; none: on any.
func (p Pods) NodeSelector() map[string]string {
	if p.Placement == nil {
		return nil
	}
	return p.Placement.NodeSelector
}
