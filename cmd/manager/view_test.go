// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// viewRules are the rights of the view in the chart.
func viewRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	template, err := os.ReadFile(apiserver.Root("charts", "perflab", "templates", "view.yaml"))
	expect.NoError(t, err)
	found := regexp.MustCompile(`(?s)rules:\n(.*?)\{\{-`).FindSubmatch(template)
	var rules []rbacv1.PolicyRule
	if found == nil || yaml.UnmarshalStrict(found[1], &rules) != nil || len(rules) != 1 {
		t.Fatalf("the chart's rules can't be read: %s", found)
	}
	return rules
}

// The view lists experiments, shows each, and its report once it is complete, with
// the rights in the chart.
func TestViewServesWithReadRights(t *testing.T) {
	admin := apiserver.Client(t, server.Config(t))
	namespace := apiserver.Namespace(t, admin)
	o := viewOptions{address: free(t), probeAddress: free(t), hosts: "api.example.org", namespace: namespace}
	config := confined(t, admin, namespace, "view", viewRules(t))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serveView(ctx, config, o) }()

	experiment := recorded.Experiment(1).Experiment
	status := experiment.Status
	experiment.ObjectMeta = metav1.ObjectMeta{Name: "heap", Namespace: namespace}
	expect.NoError(t, admin.Create(t.Context(), &experiment))
	experiment.Status = status
	experiment.Status.Phase, experiment.Status.Progress = v1alpha1.ExperimentRunning, "0/36"
	expect.NoError(t, admin.Status().Update(t.Context(), &experiment))
	shows(t, o.probeAddress, "", "/readyz", "")
	shows(t, o.address, "", "/", `<a href="`+namespace+`/heap/">heap</a></th><td>`+namespace+`</td><td>Running</td><td class="n">0/36</td>`)
	page := "/" + namespace + "/heap/"
	shows(t, o.address, "api.example.org:6443", page, "<strong>Running</strong>")
	shows(t, o.address, "attacker.example", page, "This host name is not allowed")
	experiment.Status.Phase = v1alpha1.ExperimentComplete
	expect.NoError(t, admin.Status().Update(t.Context(), &experiment))
	shows(t, o.address, "", page, `id="recommendations"`)

	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

// shows waits until a page contains a text.
func shows(t *testing.T, address, host, path, want string) {
	t.Helper()
	await.Page(t, "http://"+address+path, host, want, func(page string) bool { return strings.Contains(page, want) })
}
