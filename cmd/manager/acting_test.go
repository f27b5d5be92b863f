// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// With --act-as-author the manager impersonates the namespace's ServiceAccount, or reports
// that there is none.
func TestManagerActsAsAuthor(t *testing.T) {
	admin := apiserver.Client(t, server.Config(t))
	namespace := apiserver.Namespace(t, admin)
	// Another test's manager has registered its metrics in the process's registry.
	registry := metrics.Registry
	metrics.Registry = prometheus.NewRegistry()
	t.Cleanup(func() { metrics.Registry = registry })
	bindActing(t, admin, "operator.yaml", home, "perflab-operator", func(role *rbacv1.ClusterRole) client.Object {
		return &rbacv1.ClusterRoleBinding{ObjectMeta: role.ObjectMeta}
	})
	start(t, options{
		k6Image: "example.org/k6:1", collectorImage: "example.org/collector:1", metricsAddress: "0", probeAddress: "0", namespace: namespace,
		actAsAuthor: true, defaultAccount: "author", accountRole: "perflab-experiments",
	})
	experiment := rules.Object(t, rules.Valid)
	experiment.SetNamespace(namespace)
	system := &v1alpha1.PerfSystem{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shared"}}
	text, err := yaml.Marshal(experiment.Object["spec"].(map[string]any)["system"])
	expect.NoError(t, errors.Join(err, yaml.UnmarshalStrict(text, &system.Spec)))
	rules.Set(t, experiment, "spec.system", "")
	rules.Set(t, experiment, "spec.systemRef", "{name: shared}")
	expect.NoError(t, errors.Join(admin.Create(t.Context(), system), admin.Create(t.Context(), experiment)))
	eventually(t, "word of the account", func() bool {
		found := &v1alpha1.PerfExperiment{}
		expect.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(experiment), found))
		return strings.Contains(found.Status.WaitingFor, `there is no ServiceAccount "author"`)
	})
	bindActing(t, admin, "account.yaml", namespace, "author", func(role *rbacv1.ClusterRole) client.Object {
		return &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name}}
	})
	expect.NoError(t, admin.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "author"}}))
	// A change triggers a reconcile at once.
	expect.NoError(t, admin.Patch(t.Context(), experiment, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`))))
	eventually(t, "a copy of the system", func() bool {
		return admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: naming.SystemCopy("valid")}, &corev1.ConfigMap{}) == nil
	})
}

// bindActing creates a role of config/act-as-author and binds it to an account.
func bindActing(t *testing.T, admin client.Client, file, namespace, account string, make func(*rbacv1.ClusterRole) client.Object) {
	t.Helper()
	text, err := os.ReadFile(apiserver.Root("config", "act-as-author", file))
	expect.NoError(t, err)
	role := &rbacv1.ClusterRole{}
	expect.NoError(t, yaml.UnmarshalStrict(text, role), file)
	role.Name = "acting-" + account
	binding := make(role)
	to := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
	whom := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}}
	switch binding := binding.(type) {
	case *rbacv1.ClusterRoleBinding:
		binding.RoleRef, binding.Subjects = to, whom
	case *rbacv1.RoleBinding:
		binding.RoleRef, binding.Subjects = to, whom
	}
	for _, object := range []client.Object{role, binding} {
		expect.NoError(t, admin.Create(t.Context(), object), file)
		t.Cleanup(func() { expect.NoError(t, admin.Delete(context.WithoutCancel(t.Context()), object)) })
	}
}
