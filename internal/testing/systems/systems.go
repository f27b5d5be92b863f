// SPDX-License-Identifier: Apache-2.0

// Package systems declares systems for tests.
package systems

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
)

// Full returns a system of two modules that uses most fields. The test may edit it.
func Full() v1alpha1.System {
	resources := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{"cpu": resource.MustParse("500m"), "memory": resource.MustParse("1Gi")},
		Limits:   corev1.ResourceList{"memory": resource.MustParse("2Gi")},
	}
	storage := &v1alpha1.Storage{Size: resource.MustParse("10Gi"), Class: "fast"}
	nodes := v1alpha1.KafkaNodes{Replicas: 3, Resources: resources, Heap: ptr.To(resource.MustParse("1Gi")), Storage: storage}
	return v1alpha1.System{
		Target: v1alpha1.Target{Module: "gateway", Tenant: "diku", CredentialsSecret: v1alpha1.SecretName{Name: "login"}},
		Kafka: &v1alpha1.Kafka{
			Provider:    v1alpha1.KafkaProviderStrimzi,
			Mode:        v1alpha1.KafkaModeKRaft,
			Version:     "4.3.1",
			Brokers:     nodes,
			Controllers: ptr.To(nodes),
			Config:      map[string]string{"log.retention.minutes": "480", "compression.type": "lz4"},
			Topics: []v1alpha1.TopicGroup{
				{Group: "data-import", Names: []string{"Default.diku.DI_COMPLETED", "Default.diku.DI_ERROR"}, Partitions: 2, Replicas: 3},
				{Group: "pub-sub", Prefix: "pub-sub.diku", Count: ptr.To[int32](3), Partitions: 120, Config: map[string]string{"retention.ms": "7200000"}},
			},
		},
		Postgres: &v1alpha1.Postgres{
			Provider:       v1alpha1.PostgresProviderCloudNativePG,
			Instances:      3,
			Image:          "postgresql:15.4",
			ReadWriteSplit: &v1alpha1.ReadWriteSplit{Enabled: true, Synchronous: true, Exclude: []string{"mod-inventory"}},
			Parameters:     map[string]string{"max_connections": "300"},
			Storage:        storage,
			Resources:      resources,
			Pooler:         &v1alpha1.Pooler{Instances: 2, Mode: "transaction", Parameters: map[string]string{"default_pool_size": "50"}},
			Placement: &v1alpha1.Placement{
				NodeSelector:   map[string]string{"disk": "fast"},
				Tolerations:    []corev1.Toleration{{Key: "lab", Operator: corev1.TolerationOpExists}},
				TopologySpread: []v1alpha1.Spread{{TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 1, WhenUnsatisfiable: corev1.DoNotSchedule}},
			},
		},
		Modules: []v1alpha1.Module{
			{
				Name: "mod-inventory", Image: "inventory:1", Replicas: ptr.To[int32](2), Resources: resources, Port: 8082, HealthPath: "/health",
				JVM: &v1alpha1.JVM{
					Heap:      &v1alpha1.Heap{Max: ptr.To(resource.MustParse("768Mi"))},
					Metaspace: &v1alpha1.Metaspace{Initial: ptr.To(resource.MustParse("88Mi")), Max: ptr.To(resource.MustParse("128Mi"))},
					Options:   []string{"-XX:+UseSerialGC"},
				},
				Env: []corev1.EnvVar{{Name: "DB_MAXPOOLSIZE", Value: "10"}},
			},
			{Name: "gateway", Image: "gateway:1", Replicas: ptr.To[int32](1), Port: 8081, HealthPath: "/admin/health"},
		},
	}
}
