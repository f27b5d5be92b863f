// SPDX-License-Identifier: Apache-2.0

package modules_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

// podOf returns the pod spec of the nth module's Deployment.
func podOf(t *testing.T, req environment.Request, n int) map[string]any {
	t.Helper()
	pod, found, err := unstructured.NestedMap(modules.Build(req, env)[2*n].Object, "spec", "template", "spec")
	if err != nil || !found {
		t.Fatalf("there is no pod spec: %v", err)
	}
	return pod
}

func TestPlacement(t *testing.T) {
	req := request(system())
	req.System.Modules[0].Placement = &v1alpha1.Placement{
		NodeSelector: map[string]string{corev1.LabelInstanceTypeStable: "r7g.xlarge"},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelHostname}},
		}},
		Tolerations: []corev1.Toleration{{Key: "benchmark", Operator: corev1.TolerationOpExists}},
		TopologySpread: []v1alpha1.Spread{
			{TopologyKey: corev1.LabelHostname},
			{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 2, WhenUnsatisfiable: corev1.ScheduleAnyway},
		},
	}
	placed := map[string]any{}
	for _, field := range []string{"nodeSelector", "affinity", "tolerations", "topologySpreadConstraints"} {
		placed[field] = podOf(t, req, 0)[field]
		if other, found := podOf(t, req, 1)[field]; found {
			t.Errorf("the other module has %s %v", field, other)
		}
	}
	yamlcmp.Equal(t, placed, `
nodeSelector: {node.kubernetes.io/instance-type: r7g.xlarge}
affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]}}
tolerations: [{key: benchmark, operator: Exists}]
topologySpreadConstraints:
- topologyKey: kubernetes.io/hostname
  maxSkew: 1
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {perflab.dev/experiment: demo, perflab.dev/module: mod-inventory}}
- topologyKey: topology.kubernetes.io/zone
  maxSkew: 2
  whenUnsatisfiable: ScheduleAnyway
  labelSelector: {matchLabels: {perflab.dev/experiment: demo, perflab.dev/module: mod-inventory}}
`)
}

func TestBuildMountsBrokerCertificate(t *testing.T) {
	req := request(system())
	externalKafka(v1alpha1.ExternalKafka{
		BootstrapServers: []string{"b-1.msk:9094"}, TLS: &v1alpha1.KafkaTLS{CA: &v1alpha1.SecretKey{Name: "msk-ca", Key: "ca.crt"}},
	})(&req)
	pod := podOf(t, req, 1)
	container := pod["containers"].([]any)[0].(map[string]any)
	yamlcmp.Equal(t, map[string]any{"volumes": pod["volumes"], "mounts": container["volumeMounts"]}, `
volumes: [{name: kafka-ca, secret: {secretName: msk-ca, items: [{key: ca.crt, path: ca.pem}]}}]
mounts: [{name: kafka-ca, mountPath: /etc/perflab/kafka, readOnly: true}]
`)
}

func TestBuildAppliesPatches(t *testing.T) {
	req := request(system())
	patched("gateway", `{"spec": {"replicas": 3, "template": {"spec": {"priorityClassName": "high"}}}}`)(&req)
	expect.Equal(t, "high", podOf(t, req, 1)["priorityClassName"], "the gateway's priorityClassName")
	if got := podOf(t, req, 0)["priorityClassName"]; got != nil {
		t.Errorf("mod-inventory's priorityClassName is %v, want none", got)
	}
	for n, want := range []int32{2, 3} {
		if got := modules.Replicas(req, req.System.Modules[n]); got != want {
			t.Errorf("%s is to have %d pods, want %d", req.System.Modules[n].Name, got, want)
		}
	}
}
