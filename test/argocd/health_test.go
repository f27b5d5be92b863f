// SPDX-License-Identifier: Apache-2.0

// Package argocd_test checks how Argo CD's own code assesses the health of PerfLab's
// objects with the settings in config/argocd.
package argocd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/lua"
	"github.com/argoproj/argo-cd/v3/util/settings"
	"github.com/argoproj/gitops-engine/pkg/health"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"
	"sigs.k8s.io/yaml"
)

const argocd = "argocd"

// overrides returns the settings as Argo CD reads them from its ConfigMap, after edits by a
// user.
func overrides(t *testing.T, edit func(data map[string]string)) map[string]v1alpha1.ResourceOverride {
	t.Helper()
	configMap := &corev1.ConfigMap{}
	read(t, "../../config/argocd/argocd-cm.yaml", configMap)
	configMap.Namespace = argocd
	edit(configMap.Data)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: "argocd-secret", Namespace: argocd, Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"},
	}}
	manager := settings.NewSettingsManager(t.Context(), fake.NewClientset(configMap, secret), argocd)
	found, err := manager.GetResourceOverrides()
	if err != nil {
		t.Fatalf("reading the settings: %v", err)
	}
	return found
}

func asShipped(map[string]string) {}

func read(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
}

// TestHealthOfEveryPhase reads objects as the operator writes them: a test of ./controllers
// checks the files.
func TestHealthOfEveryPhase(t *testing.T) {
	wanted := map[string]struct {
		status  health.HealthStatusCode
		message string
	}{
		"PerfExperiment-new":        {health.HealthStatusProgressing, "waiting for the operator to observe this spec"},
		"PerfExperiment-pending":    {health.HealthStatusProgressing, `waiting for PerfSystem "absent": not found in the namespace`},
		"PerfExperiment-running":    {health.HealthStatusProgressing, `0/2 runs done; Provisioning: Kafka "small" is being created`},
		"PerfExperiment-loading":    {health.HealthStatusProgressing, "0/2 runs done; Loading: cico"},
		"PerfExperiment-suspending": {health.HealthStatusSuspended, "0/2 runs done; Provisioning"},
		"PerfExperiment-suspended":  {health.HealthStatusSuspended, "0/2 runs done; suspended until spec.suspend is false"},
		"PerfExperiment-unobserved": {health.HealthStatusProgressing, "waiting for the operator to observe this spec"},
		"PerfExperiment-complete":   {health.HealthStatusHealthy, "every planned run has a valid attempt"},
		"PerfExperiment-worse":      {health.HealthStatusHealthy, "verdict: 2 worse; arm slow is worse in 2 primary metrics and 1 guardrails"},
		"PerfExperiment-changed":    {health.HealthStatusDegraded, "the spec has changed since the runs were planned"},
		"PerfExperiment-exhausted":  {health.HealthStatusDegraded, "block 1, arm as-is, scenario cico was invalid 1 time"},
		"PerfExperiment-deleting":   {health.HealthStatusProgressing, "waiting for the environment to be deleted"},
		"PerfRun-running":           {health.HealthStatusProgressing, `Provisioning: Kafka "small" is being created`},
		"PerfRun-loading":           {health.HealthStatusProgressing, "Loading: cico"},
		"PerfRun-complete":          {health.HealthStatusHealthy, "the run is finished and valid"},
		"PerfSchedule-new":          {health.HealthStatusProgressing, "waiting for the operator to observe this schedule"},
		"PerfSchedule-in-force":     {health.HealthStatusHealthy, "creates an experiment at 0 * * * * (Europe/Berlin)"},
		"PerfSchedule-held":         {health.HealthStatusHealthy, "waits for hourly-"},
		"PerfSchedule-suspended":    {health.HealthStatusSuspended, "creates no experiments while spec.suspend is set"},
		"PerfSchedule-missing":      {health.HealthStatusDegraded, `there is no Deployment "okapi" in the namespace`},
		"PerfRun-exhausted":         {health.HealthStatusDegraded, "ended with exit code 107"},
	}
	judge := lua.ResourceHealthOverrides(overrides(t, asShipped))
	paths, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(paths) != len(wanted) {
		t.Fatalf("%d files (%v), want one for each of %d cases", len(paths), err, len(wanted))
	}
	for name, want := range wanted {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			read(t, filepath.Join("testdata", name+".yaml"), &object.Object)
			got, err := judge.GetResourceHealth(object)
			if err != nil || got == nil {
				t.Fatalf("no health: %v", err)
			}
			if got.Status != want.status || !strings.Contains(got.Message, want.message) {
				t.Errorf("%s: %s\nwant %s: … %s …", got.Status, got.Message, want.status, want.message)
			}
		})
	}
}

// TestHealthOfRunWithoutStatus checks a run without a status, which the operator has not
// observed yet.
func TestHealthOfRunWithoutStatus(t *testing.T) {
	run := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfRun", "metadata": map[string]any{"name": "r", "generation": int64(1)},
	}}
	got, err := lua.ResourceHealthOverrides(overrides(t, asShipped)).GetResourceHealth(run)
	if err != nil || got.Status != health.HealthStatusProgressing || got.Message != "waiting for the operator to observe this run" {
		t.Errorf("%+v, %v", got, err)
	}
}
