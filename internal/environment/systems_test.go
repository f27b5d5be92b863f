// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/systems"
)

func request(system v1alpha1.System) environment.Request {
	return environment.Request{
		Namespace:  "lab",
		Experiment: "demo",
		Run:        "demo-1-a-b-123456",
		Reset:      v1alpha1.ResetRestartModules,
		System:     system,
		Owner:      metav1.OwnerReference{APIVersion: "perflab.dev/v1alpha1", Kind: "PerfExperiment", Name: "demo", UID: "1"},
	}
}

// declared returns systems that together use every field.
func declared() map[string]v1alpha1.System {
	small := v1alpha1.System{
		Target:   v1alpha1.Target{Module: "gateway"},
		Kafka:    &v1alpha1.Kafka{Brokers: v1alpha1.KafkaNodes{Replicas: 1}, Topics: []v1alpha1.TopicGroup{{Group: "g", Names: []string{"Default.diku.DI_COMPLETED"}}}},
		Postgres: &v1alpha1.Postgres{},
		Modules:  []v1alpha1.Module{{Name: "gateway", Image: "gateway:1", Port: 8081, HealthPath: "/admin/health"}},
	}
	return map[string]v1alpha1.System{
		"Small":        small,
		"Full":         systems.Full(),
		"Kafkas":       withKafka(small, nodes()),
		"Dedicated":    withKafka(small, dedicated()),
		"ZooKeeper":    withKafka(small, zooKeeper()),
		"SmallKeepers": withKafka(small, v1alpha1.Kafka{Mode: v1alpha1.KafkaModeZooKeeper, Brokers: v1alpha1.KafkaNodes{Replicas: 1}}),
		"External": withKafka(small, v1alpha1.Kafka{
			Provider: v1alpha1.KafkaProviderExternal,
			External: &v1alpha1.ExternalKafka{BootstrapServers: []string{"b-1.msk.example.org:9092"}},
		}),
		"Patched": patched(withKafka(small, dedicated())),
	}
}

func withKafka(system v1alpha1.System, kafka v1alpha1.Kafka) v1alpha1.System {
	system.Kafka = &kafka
	return system
}

// nodes returns a Kafka whose nodes use every field.
func nodes() v1alpha1.Kafka {
	return v1alpha1.Kafka{
		Brokers: everything(3),
		Config:  map[string]string{"log.retention.minutes": "480"},
		Metrics: &v1alpha1.KafkaMetrics{JMXExporter: &v1alpha1.ConfigMapKey{Name: "rules", Key: "kafka.yaml"}},
	}
}

func dedicated() v1alpha1.Kafka {
	kafka := nodes()
	kafka.Controllers = ptr.To(everything(3))
	return kafka
}

func zooKeeper() v1alpha1.Kafka {
	kafka := nodes()
	kafka.Mode = v1alpha1.KafkaModeZooKeeper
	kafka.Version = "3.9.2"
	kafka.ZooKeeper = ptr.To(everything(5))
	return kafka
}

func everything(replicas int32) v1alpha1.KafkaNodes {
	return v1alpha1.KafkaNodes{
		Replicas: replicas,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("4Gi")},
			Limits:   corev1.ResourceList{"memory": resource.MustParse("4Gi")},
		},
		Heap:       ptr.To(resource.MustParse("2Gi")),
		JVMOptions: map[string]string{"MaxGCPauseMillis": "20", "UseG1GC": "true"},
		Storage:    &v1alpha1.Storage{Size: resource.MustParse("100Gi"), Class: "fast"},
		Placement: &v1alpha1.Placement{
			NodeSelector: map[string]string{"node.kubernetes.io/instance-type": "m7g.xlarge", "zone": "a"},
			Affinity: &corev1.Affinity{
				NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
					NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
						{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"arm64"}},
					}}},
				}},
				PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"noisy": "true"}},
					TopologyKey:   "kubernetes.io/hostname",
				}}},
			},
			Tolerations:    []corev1.Toleration{{Key: "kafka", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule, TolerationSeconds: ptr.To[int64](60)}},
			TopologySpread: []v1alpha1.Spread{{TopologyKey: "kubernetes.io/hostname"}, {TopologyKey: "topology.kubernetes.io/zone", MaxSkew: 2, WhenUnsatisfiable: corev1.ScheduleAnyway}},
		},
	}
}

func patched(system v1alpha1.System) v1alpha1.System {
	system.Patches = []v1alpha1.Patch{
		patch("Kafka", "", `{"spec":{"kafka":{"rack":{"topologyKey":"topology.kubernetes.io/zone"}}}}`),
		patch("KafkaNodePool", "controller", `{"spec":{"jvmOptions":{"gcLoggingEnabled":true}}}`),
	}
	return system
}
