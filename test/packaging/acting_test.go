// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"perflab.dev/perflab/internal/testing/expect"
)

// roleRights returns the rights of a role, one by one: "patch apps/deployments".
func roleRights(role *rbacv1.ClusterRole) map[string]bool {
	rights := map[string]bool{}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights[strings.Join([]string{verb, group + "/" + resource, strings.Join(rule.ResourceNames, ",")}, " ")] = true
				}
			}
		}
	}
	return rights
}

func role(t *testing.T, path string) *rbacv1.ClusterRole {
	t.Helper()
	read := &rbacv1.ClusterRole{}
	readYAML(t, path, read)
	return read
}

// If the operator acts as accounts, its rights are split. It reads everything and writes its
// own kinds. All other writes need the account's rights. Neither role has a right that the
// operator does not have otherwise.
func TestOperatorRightsAreSplit(t *testing.T) {
	operator, account := roleRights(role(t, "act-as-author/operator.yaml")), roleRights(role(t, "act-as-author/account.yaml"))
	const impersonate = "impersonate /serviceaccounts perflab-author"
	if !operator[impersonate] {
		t.Errorf("the operator may not %s", impersonate)
	}
	delete(operator, impersonate)
	both := maps.Clone(operator)
	maps.Copy(both, account)
	if diff := cmp.Diff(roleRights(role(t, "rbac/role.yaml")), both); diff != "" {
		t.Errorf("rights (-config/rbac +config/act-as-author):\n%s", diff)
	}
	for right := range operator {
		verb, resource, _ := strings.Cut(right, " ")
		reads := slices.Contains([]string{"get", "list", "watch"}, verb)
		own := strings.Contains(resource, "perflab.dev/") || strings.Contains(resource, "/events") || strings.Contains(resource, "/localsubjectaccessreviews")
		if !reads && !own {
			t.Errorf("the operator itself may %s", right)
		}
	}
	for right := range account {
		if verb, _, _ := strings.Cut(right, " "); slices.Contains([]string{"get", "list", "watch"}, verb) {
			t.Errorf("accounts may %s, which the operator does", right)
		}
	}
}

// The installation chooses which accounts the operator may impersonate, and where.
func TestActAsAuthorFlags(t *testing.T) {
	given := values{"actAsAuthor": values{"enabled": true, "defaultServiceAccount": "lab", "serviceAccounts": []any{"strong", "lab"}}}
	for scope, at := range map[string]struct{ kind, namespace, name, account, flags string }{
		"Cluster":    {"ClusterRole", "", "perflab-operator", "perflab-experiments", `"--act-as-author","--default-service-account=lab"`},
		"Namespaced": {"Role", home, "perflab-operator-" + home, "perflab-experiments-" + home, `"--act-as-author","--default-service-account=lab","--account-role=perflab-experiments-` + home + `"`},
	} {
		given["scope"] = scope
		rendered := mustRender(t, home, given)
		rights := roleRights(typed[rbacv1.ClusterRole](t, rendered, at.kind, at.namespace, at.name))
		if !rights["impersonate /serviceaccounts lab,strong"] || rights["create /pods "] {
			t.Errorf("%s: the operator may %q", scope, slices.Sorted(maps.Keys(rights)))
		}
		collector := strings.Replace(at.account, "experiments", "collector", 1)
		if account := roleRights(typed[rbacv1.ClusterRole](t, rendered, "ClusterRole", "", at.account)); !account["create /pods "] || !account["bind rbac.authorization.k8s.io/clusterroles "+collector] {
			t.Errorf("%s: accounts may %q", scope, slices.Sorted(maps.Keys(account)))
		}
		operator, err := rendered.get(t, "Deployment", home, "perflab-operator").MarshalJSON()
		expect.NoError(t, err)
		if !contains(operator, at.flags) {
			t.Errorf("%s: the operator is started with %s", scope, operator)
		}
	}
}
