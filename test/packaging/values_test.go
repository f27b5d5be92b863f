// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/expect"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func operatorPod(t *testing.T, from objects) corev1.PodSpec {
	t.Helper()
	return typed[appsv1.Deployment](t, from, "Deployment", home, "perflab-operator").Spec.Template.Spec
}

// imagesOf returns the images that a release uses, by the name of the value.
func imagesOf(pod corev1.PodSpec) map[string]string {
	found := map[string]string{"operator": pod.Containers[0].Image}
	for _, variable := range pod.Containers[0].Env {
		if name, is := strings.CutSuffix(variable.Name, "_IMAGE"); is {
			found[strings.ToLower(name)] = variable.Value
		}
	}
	return found
}

// The version of the chart is the default tag. Another tag removes the digest of the release.
func TestImageValues(t *testing.T) {
	released := loadChart(t)
	released.Metadata.AppVersion = "v1.2.3"
	released.Metadata.Annotations["artifacthub.io/images"] = "- {name: operator, image: \"example.org/operator:v1.2.3@" + digest + "\"}\n"
	for name, c := range map[string]struct {
		image    any
		registry string
		want     string
	}{
		"default":                {nil, "", "localhost/perflab/operator:v1.2.3@" + digest},
		"repository":             {values{"repository": "example.org:5000/own/operator"}, "", "example.org:5000/own/operator:v1.2.3@" + digest},
		"tag":                    {values{"tag": "v2"}, "", "localhost/perflab/operator:v2"},
		"digest":                 {values{"digest": digest}, "", "localhost/perflab/operator@" + digest},
		"tag and digest":         {values{"tag": "v2", "digest": digest}, "", "localhost/perflab/operator:v2@" + digest},
		"registry":               {nil, "mirror.example.org", "mirror.example.org/perflab/operator:v1.2.3@" + digest},
		"registry with a path":   {nil, "mirror.example.org/team/", "mirror.example.org/team/perflab/operator:v1.2.3@" + digest},
		"registry with a port":   {values{"repository": "example.org:5000/operator", "tag": "v2"}, "mirror:5000", "mirror:5000/operator:v2"},
		"image without registry": {values{"repository": "perflab/operator", "tag": "v2"}, "mirror.example.org", "mirror.example.org/perflab/operator:v2"},
		"short image":            {values{"repository": "operator", "tag": "v2"}, "mirror.example.org", "mirror.example.org/operator:v2"},
		"deprecated text":        {"example.org/operator:v2", "", "example.org/operator:v2"},
		"text and registry":      {"example.org/operator:v2", "mirror.example.org", "mirror.example.org/operator:v2"},
	} {
		given := values{"global": values{"imageRegistry": c.registry}, "view": values{"enabled": true}}
		if c.image != nil {
			given["images"] = values{"operator": c.image}
		}
		made, err := renderRelease(t, released, home, given)
		expect.NoError(t, err, name)
		rendered := decode(t, made.Manifest)
		expect.Equal(t, c.want, imagesOf(operatorPod(t, rendered))["operator"], "%s: the operator's image", name)
		expect.Equal(t, c.want, typed[appsv1.Deployment](t, rendered, "Deployment", home, "perflab-view").Spec.Template.Spec.Containers[0].Image, "%s: the view's image", name)
		expect.Equal(t, c.want, testPod(t, made).Spec.Containers[0].Image, "%s: the test's image", name)
	}
}

func TestEachImageHasItsValues(t *testing.T) {
	pod := operatorPod(t, mustRender(t, home, values{"images": values{
		"k6":        values{"repository": "example.org/k6", "tag": "v2", "pullPolicy": "Always"},
		"collector": values{"digest": digest, "pullPolicy": "Never"},
	}}))
	want := map[string]string{"operator": "localhost/perflab/operator:dev", "k6": "example.org/k6:v2", "collector": "localhost/perflab/collector@" + digest}
	expect.Equal(t, want, imagesOf(pod), "images")
	expect.Equal(t, "", string(pod.Containers[0].ImagePullPolicy), "the operator's pull policy")
	for _, flag := range []string{"--k6-image-pull-policy=Always", "--collector-image-pull-policy=Never"} {
		if !slices.Contains(pod.Containers[0].Args, flag) {
			t.Errorf("%s is not in %q", flag, pod.Containers[0].Args)
		}
	}
}

// The pull Secrets apply to the operator's pods, and to the pods that the operator creates.
func TestPullSecretsReachAllPods(t *testing.T) {
	made, err := renderRelease(t, loadChart(t), home, values{
		"imagePullSecrets": []any{values{"name": "registry"}, values{"name": "mirror"}},
		"images":           values{"operator": values{"pullPolicy": "Always"}}, "view": values{"enabled": true},
	})
	expect.NoError(t, err)
	rendered := decode(t, made.Manifest)
	operator := operatorPod(t, rendered)
	for name, pod := range map[string]corev1.PodSpec{
		"operator": operator, "view": typed[appsv1.Deployment](t, rendered, "Deployment", home, "perflab-view").Spec.Template.Spec, "test": testPod(t, made).Spec,
	} {
		expect.Equal(t, []corev1.LocalObjectReference{{Name: "registry"}, {Name: "mirror"}}, pod.ImagePullSecrets, "pull Secrets of the %s", name)
		expect.Equal(t, corev1.PullAlways, pod.Containers[0].ImagePullPolicy, "pull policy of the %s", name)
	}
	for _, flag := range []string{"--image-pull-secret=registry", "--image-pull-secret=mirror"} {
		if !slices.Contains(operator.Containers[0].Args, flag) {
			t.Errorf("%s is not in %q", flag, operator.Containers[0].Args)
		}
	}
}

func TestPodValues(t *testing.T) {
	rendered := mustRender(t, home, values{
		"replicaCount": 2, "podLabels": values{"team": "lab"}, "podAnnotations": values{"note": "a"}, "priorityClassName": "high",
		"extraEnv":     []any{values{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}},
		"nodeSelector": values{"pool": "tools"}, "tolerations": []any{values{"key": "tools", "operator": "Exists"}},
		"affinity":       values{"nodeAffinity": values{"preferredDuringSchedulingIgnoredDuringExecution": []any{}}},
		"resources":      values{"requests": values{"cpu": "1"}},
		"serviceAccount": values{"annotations": values{"role": "perflab"}},
	})
	deployment := typed[appsv1.Deployment](t, rendered, "Deployment", home, "perflab-operator")
	pod := deployment.Spec.Template
	expect.Equal(t, ptr.To[int32](2), deployment.Spec.Replicas, "replicas")
	expect.Equal(t, map[string]string{"app.kubernetes.io/name": "perflab-operator", "team": "lab"}, pod.Labels, "labels")
	expect.Equal(t, map[string]string{"note": "a"}, pod.Annotations, "annotations")
	expect.Equal(t, map[string]string{"pool": "tools"}, pod.Spec.NodeSelector, "node selector")
	expect.Equal(t, []corev1.Toleration{{Key: "tools", Operator: corev1.TolerationOpExists}}, pod.Spec.Tolerations, "tolerations")
	expect.Equal(t, "high", pod.Spec.PriorityClassName, "priority class")
	expect.Equal(t, "1", pod.Spec.Containers[0].Resources.Requests.Cpu().String(), "CPU")
	expect.Equal(t, corev1.EnvVar{Name: "HTTPS_PROXY", Value: "http://proxy:3128"}, pod.Spec.Containers[0].Env[len(pod.Spec.Containers[0].Env)-1], "variable")
	expect.Equal(t, map[string]string{"role": "perflab"}, rendered.get(t, "ServiceAccount", home, "perflab-operator").GetAnnotations(), "annotations of the account")
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.NodeAffinity == nil {
		t.Error("the affinity is missing")
	}
}

// Deprecated names of values work, and the notes list the new names.
func TestDeprecatedValues(t *testing.T) {
	made, err := renderRelease(t, loadChart(t), home, values{"replicas": 0, "imagePullPolicy": "Always", "history": values{"runs": "8760h"}, "images": values{"k6": "example.org/k6:1"}})
	expect.NoError(t, err)
	rendered := decode(t, made.Manifest)
	pod := operatorPod(t, rendered)
	expect.Equal(t, ptr.To[int32](0), typed[appsv1.Deployment](t, rendered, "Deployment", home, "perflab-operator").Spec.Replicas, "replicas")
	expect.Equal(t, corev1.PullAlways, pod.Containers[0].ImagePullPolicy, "pull policy")
	expect.Equal(t, "example.org/k6:1", imagesOf(pod)["k6"], "image")
	for _, want := range []string{"replicas: use replicaCount", "imagePullPolicy: use images.operator.pullPolicy", "history: use retention", "images.k6 as text: use images.k6.repository"} {
		if !strings.Contains(made.Info.Notes, want) {
			t.Errorf("the notes lack %q: %s", want, made.Info.Notes)
		}
	}
	current, err := renderRelease(t, loadChart(t), home, values{"replicaCount": 0})
	expect.NoError(t, err)
	if strings.Contains(current.Info.Notes, "eprecated") {
		t.Errorf("without deprecated values, the notes are: %s", current.Info.Notes)
	}
}

// helm upgrade --reuse-values passes only the values of the previous release to the chart.
func TestReuseValues(t *testing.T) {
	text, err := os.ReadFile("testdata/previous-values.yaml")
	expect.NoError(t, err)
	reused := func() *chart.Chart {
		previous := withOperators(t)
		previous.Values = nil
		expect.NoError(t, yaml.Unmarshal(text, &previous.Values))
		return previous
	}
	rendered, err := renderChart(t, reused(), home, nil)
	expect.NoError(t, err)
	checkSame(t, build(t, "default"), rendered)
	// Strimzi would get different values than before.
	want := "strimzi-kafka-operator is now operators.strimzi-kafka-operator"
	if _, err := renderChart(t, reused(), home, values{"operators": values{"strimzi": true}}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("with an operator: %v, want %q", err, want)
	}
}

// Objects that refer to each other by name or by label also do so with other names.
func TestNameOverrides(t *testing.T) {
	for name, c := range map[string]struct {
		given         values
		prefix, label string
	}{
		"default":    {values{}, "perflab", "perflab"},
		"name":       {values{"nameOverride": "bench"}, "bench", "bench"},
		"full name":  {values{"fullnameOverride": "lab"}, "lab", "perflab"},
		"both":       {values{"nameOverride": "bench", "fullnameOverride": "lab"}, "lab", "bench"},
		"namespaced": {values{"fullnameOverride": "lab", "scope": "Namespaced"}, "lab", "perflab"},
	} {
		t.Run(name, func(t *testing.T) {
			c.given["view"] = values{"enabled": true, "from": []any{values{"podSelector": values{}}}, "hosts": []any{"proxy"}}
			c.given["metrics"] = values{"serviceMonitor": values{"enabled": true}, "dashboard": values{"enabled": true}, "reader": values{"name": "prometheus"}}
			c.given["actAsAuthor"] = values{"enabled": true}
			rendered := mustRender(t, home, c.given)
			checkNames(t, rendered, c.prefix)
			checkReferences(t, rendered)
			deployment := typed[appsv1.Deployment](t, rendered, "Deployment", home, c.prefix+"-operator")
			expect.Equal(t, c.label+"-operator", deployment.Spec.Template.Labels["app.kubernetes.io/name"], "label")
			server, _, _ := unstructured.NestedString(rendered.get(t, "ServiceMonitor", home, c.prefix+"-operator").Object["spec"].(map[string]any)["endpoints"].([]any)[0].(map[string]any), "tlsConfig", "serverName")
			expect.Equal(t, c.prefix+"-metrics."+home+".svc", server, "name of the server that Prometheus expects")
			renamed := slices.Contains(deployment.Spec.Template.Spec.Containers[0].Args, "--name-prefix="+c.prefix)
			expect.Equal(t, c.prefix != "perflab", renamed, "whether the operator gets the prefix")
		})
	}
}

func checkNames(t *testing.T, rendered objects, prefix string) {
	t.Helper()
	for key, object := range rendered {
		ours := object.GetName() == prefix || strings.HasPrefix(object.GetName(), prefix+"-")
		if object.GetKind() != "CustomResourceDefinition" && !ours {
			t.Errorf("%s is not called %s-…", key, prefix)
		}
	}
}

// checkReferences checks that selectors select pods, and that bindings and webhooks name objects
// of the release.
func checkReferences(t *testing.T, rendered objects) {
	t.Helper()
	pods := []labels.Set{}
	for _, object := range rendered {
		if object.GetKind() == "Deployment" {
			pods = append(pods, typed[appsv1.Deployment](t, rendered, "Deployment", object.GetNamespace(), object.GetName()).Spec.Template.Labels)
		}
	}
	selectors := map[string][]string{
		"Deployment": {"spec", "selector", "matchLabels"}, "Service": {"spec", "selector"}, "NetworkPolicy": {"spec", "podSelector", "matchLabels"},
		"PodDisruptionBudget": {"spec", "selector", "matchLabels"}, "ServiceMonitor": {"spec", "selector", "matchLabels"},
	}
	for key, object := range rendered {
		if path := selectors[object.GetKind()]; path != nil {
			selector, _, _ := unstructured.NestedStringMap(object.Object, path...)
			if !slices.ContainsFunc(pods, func(pod labels.Set) bool { return labels.SelectorFromSet(selector).Matches(pod) }) {
				t.Errorf("%s selects no pod with %v", key, selector)
			}
		}
		if strings.HasSuffix(object.GetKind(), "RoleBinding") {
			checkBinding(t, rendered, typed[rbacv1.RoleBinding](t, rendered, object.GetKind(), object.GetNamespace(), object.GetName()))
		}
		if object.GetKind() == "ValidatingWebhookConfiguration" {
			webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
			service, _, _ := unstructured.NestedString(webhooks[0].(map[string]any), "clientConfig", "service", "name")
			rendered.get(t, "Service", home, service)
		}
	}
}

func checkBinding(t *testing.T, rendered objects, binding *rbacv1.RoleBinding) {
	t.Helper()
	namespace := binding.Namespace
	if binding.RoleRef.Kind == "ClusterRole" {
		namespace = ""
	}
	rendered.get(t, binding.RoleRef.Kind, namespace, binding.RoleRef.Name)
	for _, subject := range binding.Subjects {
		if subject.Name != "prometheus" {
			rendered.get(t, "ServiceAccount", subject.Namespace, subject.Name)
		}
	}
}

// testPod returns the pod of helm test.
func testPod(t *testing.T, of *release.Release) *corev1.Pod {
	t.Helper()
	return typed[corev1.Pod](t, hooks(t, of), "Pod", home, "perflab-test")
}

func hooks(t *testing.T, of *release.Release) objects {
	t.Helper()
	found := objects{}
	for _, hook := range of.Hooks {
		expect.Equal(t, []release.HookEvent{release.HookTest}, hook.Events, "events of %s", hook.Name)
		found.add(decode(t, hook.Manifest))
	}
	return found
}

// helm test needs only the operator's image, may create only PerfSystems, and meets the
// restricted Pod Security Standard.
func TestHelmTest(t *testing.T) {
	for namespace, given := range map[string]values{home: nil, "lab": {"scope": "Namespaced", "watchNamespace": "lab", "webhook": values{"enabled": false}}} {
		made, err := renderRelease(t, loadChart(t), home, given)
		expect.NoError(t, err)
		role := typed[rbacv1.Role](t, hooks(t, made), "Role", namespace, "perflab-test")
		expect.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{"perflab.dev"}, Resources: []string{"perfsystems"}, Verbs: []string{"create"}}}, role.Rules, "rules")
		checkReferences(t, hooks(t, made))
		pod := testPod(t, made)
		webhook := map[bool]string{true: "true", false: "false"}[given == nil]
		expect.Equal(t, []string{"check", "--namespace=" + namespace, "--webhook=" + webhook}, pod.Spec.Containers[0].Args, "arguments")
		if !*pod.Spec.SecurityContext.RunAsNonRoot || *pod.Spec.Containers[0].SecurityContext.AllowPrivilegeEscalation || pod.Labels["app.kubernetes.io/name"] == "perflab-operator" {
			t.Errorf("%+v", pod)
		}
	}
}
