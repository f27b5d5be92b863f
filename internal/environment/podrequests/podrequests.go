// SPDX-License-Identifier: Apache-2.0

// Package podrequests returns what a system requests from nodes: pods with their requests
// and placement. It is pure.
package podrequests

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"perflab.dev/perflab/api/v1alpha1"
)

// Pods are identical pods.
type Pods struct {
	// Title of the pods in messages: "module mod-users".
	Title     string
	Count     int
	Resources corev1.ResourceRequirements
	Placement *v1alpha1.Placement
}

// ForSystem returns the pods of a system that PerfLab runs.
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

// Requested returns the request of each pod. Limits are the default of requests.
func (p Pods) Requested(name corev1.ResourceName) resource.Quantity {
	return Requested(p.Resources, name)
}

// Requested returns the request of a container with these resources.
func Requested(resources corev1.ResourceRequirements, name corev1.ResourceName) resource.Quantity {
	if request, given := resources.Requests[name]; given {
		return request
	}
	return resources.Limits[name]
}

// NodeSelector returns the pods' node selector; empty if they may run on any node.
func (p Pods) NodeSelector() map[string]string {
	if p.Placement == nil {
		return nil
	}
	return p.Placement.NodeSelector
}
