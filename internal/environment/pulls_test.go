// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/environment/images"
	"perflab.dev/perflab/internal/environment/modules"
	"perflab.dev/perflab/internal/environment/restore"
	"perflab.dev/perflab/internal/load"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/systems"
)

var pulls = environment.Pulls{
	Secrets:  []corev1.LocalObjectReference{{Name: "registry"}},
	Policies: map[string]corev1.PullPolicy{"k6:1": corev1.PullAlways, "collector:1": corev1.PullNever},
}

// Every pod that PerfLab creates gets the pull Secrets, and those with its own images their pull
// policies.
func TestPodsGetPullSettings(t *testing.T) {
	req := request(systems.Full())
	req.Pulls = pulls
	of := &v1alpha1.PerfRun{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "demo-1-a-s"}, Spec: v1alpha1.PerfRunSpec{Experiment: "demo", Arm: "a"}}
	made := modules.Build(req, "")
	job, err := collector.Job(of, req, collector.ConfigFor(of, req, nil), "collector:1")
	expect.NoError(t, err)
	called := v1alpha1.Restore{HTTP: &v1alpha1.RestoreHTTP{Path: "/restore"}}
	made = append(made, images.Build(req, "k6:1", "collector:1")[0], job, restore.Build(restore.Hook{Run: of, Restore: called, CallerImage: "k6:1", Pulls: pulls}))
	policies := map[string]int{}
	for _, intent := range made {
		pod, is := podOf(intent)
		if !is {
			continue
		}
		secrets, _, _ := unstructured.NestedSlice(pod, "imagePullSecrets")
		expect.Equal(t, []any{map[string]any{"name": "registry"}}, secrets, "pull Secrets of %s %s", intent.GetKind(), intent.GetName())
		containers, _, _ := unstructured.NestedSlice(pod, "containers")
		for _, container := range containers {
			fields := container.(map[string]any)
			if policy, _ := fields["imagePullPolicy"].(string); policy != "" {
				policies[fields["image"].(string)+" "+policy]++
			}
		}
	}
	if policies["k6:1 Always"] != 2 || policies["collector:1 Never"] != 2 {
		t.Errorf("pull policies %v, want two pods of each image", policies)
	}
}

func podOf(intent environment.Intent) (map[string]any, bool) {
	path := map[string][]string{"Pod": {"spec"}, "Deployment": {"spec", "template", "spec"}, "Job": {"spec", "template", "spec"}}[intent.GetKind()]
	if path == nil {
		return nil, false
	}
	pod, is, _ := unstructured.NestedMap(intent.Object, path...)
	return pod, is
}

// The runners and the starter are pods of k6-operator.
func TestTestRunsGetPullSettings(t *testing.T) {
	of := &v1alpha1.PerfRun{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "demo-1-a-s"}, Spec: v1alpha1.PerfRunSpec{Experiment: "demo", Arm: "a"}}
	wanted := v1alpha1.Load{Name: "cico", Duration: &metav1.Duration{Duration: time.Minute}, CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}}
	for want, settings := range map[string]load.Settings{
		"Always": {RunnerImage: "k6:1", StarterImage: "k6:1", Pulls: pulls},
		"":       {RunnerImage: "k6:1", StarterImage: "k6:1"},
	} {
		testRun, err := load.TestRun(of, wanted, "http://gateway", settings)
		expect.NoError(t, err)
		for _, part := range []string{"runner", "starter"} {
			policy, _, _ := unstructured.NestedString(testRun.Object, "spec", part, "imagePullPolicy")
			secrets, _, _ := unstructured.NestedSlice(testRun.Object, "spec", part, "imagePullSecrets")
			if policy != want || len(secrets) != len(settings.Pulls.Secrets) {
				t.Errorf("%s: policy %q, Secrets %v, want %q and %v", part, policy, secrets, want, settings.Pulls.Secrets)
			}
		}
	}
}

// Without settings, no pod changes: existing environments stay.
func TestPullSettingsChangeFingerprint(t *testing.T) {
	req := request(systems.Full())
	plain := images.Build(req, "k6:1")[0].GetName()
	req.Pulls = environment.Pulls{Secrets: pulls.Secrets}
	if other := images.Build(req, "k6:1")[0].GetName(); other == plain {
		t.Error("a pod with other pull Secrets has the same name, and pods are immutable")
	}
}
