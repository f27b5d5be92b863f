// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/measure/collector"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// The operator can grant rights that it lacks only by the collector's role, even if
// its own rights are those of one namespace.
func TestOperatorGrantsOnlyCollectorRights(t *testing.T) {
	admin := apiserver.Client(t, server.Config(t))
	namespace := apiserver.Namespace(t, admin)
	config := confined(t, admin, namespace, "operator", apiserver.ClusterRole(t, "rbac", "role.yaml").Rules)
	operator := apiserver.Client(t, config)
	bind := func(role string) error {
		binding := collector.Access(environment.Request{Namespace: namespace, Experiment: "demo"}, role)[1]
		binding.SetOwnerReferences(nil)
		return operator.Create(t.Context(), binding, client.DryRunAll)
	}
	eventually(t, "the right to bind", func() bool { return bind("perflab-collector") == nil })
	for _, role := range []string{"cluster-admin", "system:node"} {
		if err := bind(role); !apierrors.IsForbidden(err) {
			t.Errorf("the operator may bind %s: %v", role, err)
		}
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "more", Namespace: namespace}}
	if err := operator.Create(t.Context(), role, client.DryRunAll); !apierrors.IsForbidden(err) {
		t.Errorf("the operator may make roles: %v", err)
	}
}

// confined returns the configuration of an account with only these rights in one
// namespace.
func confined(t *testing.T, admin client.Client, namespace, account string, rules []rbacv1.PolicyRule) *rest.Config {
	t.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: account, Namespace: namespace}, Rules: rules}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: account}},
	}
	for _, object := range []client.Object{role, binding} {
		expect.NoError(t, admin.Create(t.Context(), object))
	}
	config := rest.CopyConfig(server.Config(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + namespace + ":" + account}
	return config
}
