// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/gitops-engine/pkg/health"
	"github.com/argoproj/gitops-engine/pkg/sync/syncwaves"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const root = "../../config/argocd"

// applications returns the applications by name. Unknown fields are errors.
func applications(t *testing.T) map[string]*v1alpha1.Application {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, "applications", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*v1alpha1.Application{}
	for _, path := range append(paths, filepath.Join(root, "root.yaml")) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, document := range bytes.Split(content, []byte("\n---\n")) {
			application := &v1alpha1.Application{}
			if err := yaml.UnmarshalStrict(document, application); err != nil {
				t.Fatalf("reading %s: %v", path, err)
			}
			found[application.Name] = application
		}
	}
	return found
}

func wave(t *testing.T, application *v1alpha1.Application) int {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(application)
	if err != nil {
		t.Fatal(err)
	}
	return syncwaves.Wave(&unstructured.Unstructured{Object: object})
}

func TestApplicationsSyncInOrderAndPrune(t *testing.T) {
	found := applications(t)
	order := [][]string{{"strimzi", "cloudnative-pg", "k6-operator"}, {"perflab-operator"}, {"perflab-environment"}, {"perflab-experiments"}}
	before, count := -1000, 1
	for _, together := range order {
		first := found[together[0]]
		if first == nil {
			t.Fatalf("application %s is missing", together[0])
		}
		now := wave(t, first)
		if now <= before {
			t.Errorf("%v are in wave %d, not after wave %d", together, now, before)
		}
		for _, name := range together {
			if found[name] == nil || wave(t, found[name]) != now {
				t.Errorf("%s is not in wave %d", name, now)
			}
			count++
		}
		before = now
	}
	if len(found) != count {
		t.Errorf("%d applications, want %d", len(found), count)
	}
	for name, application := range found {
		automated := application.Spec.SyncPolicy.Automated
		if automated == nil || !automated.Prune || !automated.SelfHeal || !application.CascadedDeletion() {
			t.Errorf("%s does not heal, prune and delete its objects: %+v", name, application.Spec.SyncPolicy)
		}
	}
}

// TestApplicationPathsExist checks that the paths of the applications exist in this
// repository.
func TestApplicationPathsExist(t *testing.T) {
	seen := 0
	for name, application := range applications(t) {
		path := application.Spec.Source.Path
		if path == "" {
			continue
		}
		seen++
		if entries, err := os.ReadDir(filepath.Join("../..", path)); err != nil || len(entries) == 0 {
			t.Errorf("%s: %s: %v", name, path, err)
		}
	}
	if seen != 4 {
		t.Errorf("%d applications with a path, want 4", seen)
	}
}

// TestHealthOfApplications checks the health of applications: a wave waits only for
// applications with known health.
func TestHealthOfApplications(t *testing.T) {
	judge := lua.ResourceHealthOverrides(overrides(t, asShipped))
	for told, want := range map[string]health.HealthStatusCode{
		"": health.HealthStatusProgressing, "Healthy": health.HealthStatusHealthy, "Suspended": health.HealthStatusSuspended, "Degraded": health.HealthStatusDegraded,
	} {
		application := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application"}}
		if told != "" {
			application.Object["status"] = map[string]any{"health": map[string]any{"status": told, "message": "because"}}
		}
		got, err := judge.GetResourceHealth(application)
		if err != nil || got == nil || got.Status != want {
			t.Errorf("an application that is %q: %+v, %v; want %s", told, got, err, want)
		}
	}
}

// TestOneRelease checks that the tested library and the running programs are from the same
// release.
func TestOneRelease(t *testing.T) {
	required := regexp.MustCompile(`github\.com/argoproj/argo-cd/v3 (v\S+)`)
	var found []string
	for _, file := range []string{"go.mod", "../../hack/cluster/argocd/go.mod"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		version := required.FindSubmatch(content)
		if version == nil {
			t.Fatalf("%s does not require Argo CD", file)
		}
		found = append(found, string(version[1]))
	}
	if found[0] != found[1] {
		t.Errorf("the library is %s, the programs are %s", found[0], found[1])
	}
}
