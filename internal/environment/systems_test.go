// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// declared are systems that between them use every field.
func declared() map[string]v1alpha1.System {
	small := v1alpha1.System{
		Target:   v1alpha1.Target{Module: "gateway"},
		Kafka:    &v1alpha1.Kafka{Brokers: v1alpha1.KafkaNodes{Replicas: 1}, Topics: []v1alpha1.TopicGroup{{Group: "g", Names: []string{"Default.diku.DI_COMPLETED"}}}},
		Postgres: &v1alpha1.Postgres{},
		Modules:  []v1alpha1.Module{{Name: "gateway", Image: "gateway:1"}},
	}
	return map[string]v1alpha1.System{"Small": small, "Full": systems.Full()}
}
