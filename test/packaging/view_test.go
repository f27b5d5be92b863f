// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/expect"
)

// typed returns an object of the chart with its Go type.
func typed[T any](t *testing.T, from objects, kind, namespace, name string) *T {
	t.Helper()
	result := new(T)
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(from.get(t, kind, namespace, name).Object, result, true), "%s %s", kind, name)
	return result
}

// viewObjects returns the objects that the view adds to a release.
func viewObjects(t *testing.T, namespace string, release, given values) objects {
	t.Helper()
	without := mustRender(t, namespace, release)
	all := values{"view": given}
	for key, value := range release {
		all[key] = value
	}
	added := mustRender(t, namespace, all)
	for key := range without {
		if added[key] == nil {
			t.Errorf("the view removes %s", key)
		}
		delete(added, key)
	}
	return added
}

func keys(of objects) []string {
	var all []string
	for key := range of {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
}

// By default, the pages are not reachable over the network: they are on the pod's loopback,
// for kubectl port-forward.
func TestViewIsClosedByDefault(t *testing.T) {
	added := viewObjects(t, home, nil, values{"enabled": true})
	want := []string{
		"ClusterRole//perflab-view", "ClusterRoleBinding//perflab-view", "Deployment/perflab-system/perflab-view",
		"NetworkPolicy/perflab-system/perflab-view", "ServiceAccount/perflab-system/perflab-view",
	}
	expect.Equal(t, want, keys(added), "objects")
	container := typed[appsv1.Deployment](t, added, "Deployment", home, "perflab-view").Spec.Template.Spec.Containers[0]
	expect.Equal(t, []string{"view", "--bind-address=127.0.0.1:8080"}, container.Args, "arguments")
	policy := typed[networkingv1.NetworkPolicy](t, added, "NetworkPolicy", home, "perflab-view")
	if len(policy.Spec.Ingress) != 1 || policy.Spec.Ingress[0].Ports[0].Port.StrVal != "probes" || len(policy.Spec.PolicyTypes) != 2 {
		t.Errorf("the network policy lets in %+v", policy.Spec)
	}
}

// The view can only read experiments and runs, in the operator's namespaces.
func TestViewOnlyReads(t *testing.T) {
	reads := rbacv1.PolicyRule{APIGroups: []string{"perflab.dev"}, Resources: []string{"perfexperiments", "perfruns"}, Verbs: []string{"get", "list", "watch"}}
	configMaps := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}
	for name, c := range map[string]struct {
		release, given       values
		kind, namespace, own string
		want                 []rbacv1.PolicyRule
	}{
		"cluster":    {nil, values{}, "ClusterRole", "", "perflab-view", []rbacv1.PolicyRule{reads}},
		"charts":     {nil, values{"rawResults": true}, "ClusterRole", "", "perflab-view", []rbacv1.PolicyRule{reads, configMaps}},
		"narrowed":   {nil, values{"namespace": "lab"}, "Role", "lab", "perflab-view", []rbacv1.PolicyRule{reads}},
		"namespaced": {values{"scope": "Namespaced", "watchNamespace": "lab"}, values{"rawResults": true}, "Role", "lab", "perflab-view-perflab-system", []rbacv1.PolicyRule{reads, configMaps}},
	} {
		c.given["enabled"] = true
		added := viewObjects(t, home, c.release, c.given)
		role := typed[rbacv1.ClusterRole](t, added, c.kind, c.namespace, c.own)
		expect.Equal(t, c.want, role.Rules, "%s: rules", name)
		binding := typed[rbacv1.ClusterRoleBinding](t, added, c.kind+"Binding", c.namespace, c.own)
		if binding.RoleRef.Name != c.own || binding.RoleRef.Kind != c.kind || binding.Subjects[0].Name != "perflab-view" || binding.Subjects[0].Namespace != home {
			t.Errorf("%s: %+v", name, binding)
		}
		arguments := typed[appsv1.Deployment](t, added, "Deployment", home, "perflab-view").Spec.Template.Spec.Containers[0].Args
		if slices.Contains(arguments, "--namespace="+c.namespace) != (c.namespace != "") {
			t.Errorf("%s: arguments %q", name, arguments)
		}
	}
}

// Only configured peers reach the view, under the configured host names.
func TestViewAdmitsPeers(t *testing.T) {
	from := []any{map[string]any{"ipBlock": map[string]any{"cidr": "10.1.2.3/32"}}}
	added := viewObjects(t, home, nil, values{"enabled": true, "from": from, "hosts": []any{"api.example.org", "10.1.2.3"}})
	arguments := typed[appsv1.Deployment](t, added, "Deployment", home, "perflab-view").Spec.Template.Spec.Containers[0].Args
	expect.Equal(t, []string{"view", "--bind-address=:8080", "--hosts=api.example.org,10.1.2.3"}, arguments, "arguments")
	policy := typed[networkingv1.NetworkPolicy](t, added, "NetworkPolicy", home, "perflab-view")
	want := []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.1.2.3/32"}}}
	if len(policy.Spec.Ingress) != 2 || policy.Spec.Ingress[1].Ports[0].Port.StrVal != "http" || cmp.Diff(want, policy.Spec.Ingress[1].From) != "" {
		t.Errorf("the network policy lets in %+v", policy.Spec.Ingress)
	}
	service := typed[corev1.Service](t, added, "Service", home, "perflab-view")
	pod := typed[appsv1.Deployment](t, added, "Deployment", home, "perflab-view").Spec.Template.Labels
	if !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(pod)) || service.Spec.Type != "" {
		t.Errorf("the service leads to %v, the pod has %v", service.Spec.Selector, pod)
	}
}

// Values that would make the view open to everyone, or unreachable, are rejected.
func TestViewValuesAreChecked(t *testing.T) {
	peer := []any{map[string]any{"podSelector": map[string]any{}}}
	for want, given := range map[string]values{
		"view.hosts has to name": {"view": values{"enabled": true, "from": peer}},
		"minProperties":          {"view": values{"enabled": true, "from": []any{map[string]any{}}, "hosts": []any{"x"}}},
		"view.hosts.0":           {"view": values{"enabled": true, "from": peer, "hosts": []any{"https://x/"}}},
		"is not the one":         {"scope": "Namespaced", "watchNamespace": "lab", "view": values{"enabled": true, "namespace": "other"}},
		"view.rawResults":        {"view": values{"rawResults": "yes"}},
	} {
		_, err := render(t, home, given)
		if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "/", "."), want) {
			t.Errorf("%v: %v, want a complaint about %s", given, err, want)
		}
	}
}

// The operator's selectors (of its webhook and its policies) don't select the view.
func TestOperatorSelectorsExcludeView(t *testing.T) {
	rendered := mustRender(t, home, values{"view": values{"enabled": true}})
	pod := labels.Set(typed[appsv1.Deployment](t, rendered, "Deployment", home, "perflab-view").Spec.Template.Labels)
	selector := typed[appsv1.Deployment](t, rendered, "Deployment", home, "perflab-operator").Spec.Selector.MatchLabels
	if labels.SelectorFromSet(selector).Matches(pod) {
		t.Errorf("the operator's selector %v finds the view's pod %v", selector, pod)
	}
}

// An API server accepts the view's objects, and its pod under the restricted standard. The
// view's account can only read experiments and runs.
func TestViewInstalls(t *testing.T) {
	admin := administrator(t)
	const namespace = "team-view"
	install(t, namespace, loadChart(t), values{"scope": "Namespaced", "view": values{"enabled": true}})
	t.Cleanup(func() { uninstall(t, namespace) })
	label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`))
	expect.NoError(t, admin.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, label))
	deployment := &appsv1.Deployment{}
	expect.NoError(t, admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "perflab-view"}, deployment))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{GenerateName: "view-", Namespace: namespace, Labels: deployment.Spec.Template.Labels}, Spec: deployment.Spec.Template.Spec}
	if err := admin.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Errorf("the pod is refused: %v", err)
	}
	for _, c := range []struct {
		group, resource, verb string
		may                   bool
	}{
		{"perflab.dev", "perfexperiments", "watch", true},
		{"perflab.dev", "perfruns", "list", true},
		{"perflab.dev", "perfruns", "patch", false},
		{"perflab.dev", "perfexperiments", "delete", false},
		{"", "configmaps", "get", false},
		{"", "secrets", "get", false},
		{"", "pods", "list", false},
	} {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               "system:serviceaccount:" + namespace + ":perflab-view",
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Group: c.group, Resource: c.resource, Verb: c.verb},
		}}
		eventually(t, admin, review, c.may)
		expect.Equal(t, c.may, review.Status.Allowed, "the view may %s %s", c.verb, c.resource)
	}
}
