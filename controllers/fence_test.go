// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// identity is the user name of the operator's ServiceAccount.
const identity = "system:serviceaccount:perflab-system:perflab-operator"

// installations are servers on which the operator has its own rights, and the fence is active.
var installations sync.Map

// installed is a connection with the rights of the installed operator, within its fence, and a client
// for it.
type installed struct {
	config *rest.Config
	client client.WithWatch
}

// installOn installs the operator's rights on a server, once: the suite shows that they suffice.
func installOn(t *testing.T, server *apiserver.Server) installed {
	t.Helper()
	config := server.Config(t)
	install, _ := installations.LoadOrStore(server, sync.OnceValue(func() installed {
		installOperator(t, apiserver.Client(t, config))
		own := rest.CopyConfig(config)
		own.Impersonate.UserName = identity
		return installed{own, apiserver.Client(t, own)}
	}))
	return install.(func() installed)()
}

// installOperator installs the operator's roles and its fence.
func installOperator(t *testing.T, admin client.Client) {
	t.Helper()
	for _, path := range []string{"rbac/role.yaml", "rbac/collector.yaml", "rbac/role_binding.yaml", "fence/policy.yaml", "fence/binding.yaml"} {
		text, err := os.ReadFile(apiserver.Root("config", filepath.FromSlash(path)))
		expect.NoError(t, err, path)
		object := &unstructured.Unstructured{}
		expect.NoError(t, yaml.Unmarshal(text, &object.Object), path)
		expect.NoError(t, admin.Create(t.Context(), object), path)
	}
	// Labs store tickets in their own namespaces.
	name := metav1.ObjectMeta{Name: "lab"}
	expect.NoError(t, admin.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: name, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"*"}},
	}}))
	expect.NoError(t, admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: name,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "lab"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "perflab-operator", Namespace: "perflab-system"}},
	}))
}
