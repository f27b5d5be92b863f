// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// Every write needs an account in its context. Without one, or with one of another namespace,
// it fails: the operator does not write as itself instead.
func TestWritesNeedAccount(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		asked = append(asked, request.Header.Get("Impersonate-User")+" "+request.URL.Path)
	}))
	t.Cleanup(server.Close)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	accounts, err := kube.NewAccounts(&rest.Config{Host: server.URL}, client.Options{Scheme: apiserver.Scheme(), Mapper: mapper}, "author", "role")
	expect.NoError(t, err)
	account := func(namespace string) client.Object {
		return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "author"}}
	}
	own := fake.NewClientBuilder().WithScheme(apiserver.Scheme()).WithObjects(account("lab"), account("other")).Build()
	acting := accounts.Client(own)
	object := func() client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "results"}}
	}
	for name, ctx := range map[string]context.Context{
		"nobody":    t.Context(),
		"elsewhere": kube.WithAccount(t.Context(), "other", "author"),
	} {
		for verb, err := range map[string]error{
			"create": acting.Create(ctx, object()),
			"update": acting.Update(ctx, object()),
			"patch":  acting.Patch(ctx, object(), client.MergeFrom(object())),
			"delete": acting.Delete(ctx, object()),
			"status": acting.Status().Patch(ctx, object(), client.MergeFrom(object())),
		} {
			if err == nil {
				t.Errorf("%s for %s passes", verb, name)
			}
		}
	}
	if len(asked) > 0 {
		t.Errorf("the API server was asked: %q", asked)
	}
	ctx := kube.WithAccount(t.Context(), "lab", "")
	expect.NoError(t, acting.Create(ctx, &v1alpha1.PerfRun{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "run"}}))
	if len(asked) > 0 {
		t.Errorf("the operator's own kinds are written as another account: %q", asked)
	}
	_ = acting.Create(ctx, object())
	_ = acting.Status().Patch(ctx, object(), client.MergeFrom(object()))
	expect.Equal(t, []string{
		"system:serviceaccount:lab:author /api/v1/namespaces/lab/configmaps",
		"system:serviceaccount:lab:author /api/v1/namespaces/lab/configmaps/results/status",
	}, asked, "asked")
}

// The permissions for what the operator builds are those of a role; those for other resources, which
// faults create, need one of their own.
func TestMissingPermissionsHaveACommand(t *testing.T) {
	built, covered := map[string]string{}, map[string]bool{}
	for _, rule := range apiserver.ClusterRole(t, "act-as-author", "account.yaml").Rules {
		for _, resource := range rule.Resources {
			if base, _, _ := strings.Cut(resource, "/"); rule.APIGroups[0] != v1alpha1.GroupVersion.Group && base != "clusterroles" {
				covered[schema.GroupResource{Group: rule.APIGroups[0], Resource: base}.String()] = true
			}
		}
	}
	for resource := range covered {
		built[resource] = "kubectl create rolebinding author -n lab --clusterrole=role --serviceaccount=lab:author"
	}
	built["networkchaos.chaos-mesh.org"] = "kubectl create role author-networkchaos -n lab --verb=create,patch,delete --resource=networkchaos.chaos-mesh.org" +
		" && kubectl create rolebinding author-networkchaos -n lab --role=author-networkchaos --serviceaccount=lab:author"
	accounts := &kube.Accounts{Role: "role"}
	for resource, want := range built {
		expect.Equal(t, want, accounts.Grant("lab", "author", schema.ParseGroupResource(resource)), resource)
	}
}
