//go:build e2e

// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
)

// TestKeycloak measures a system other than FOLIO, with only an image and a script.
func TestKeycloak(t *testing.T) {
	ctx, home := t.Context(), namespace(t)
	experiment := apply(t, home, localSamples+"keycloak.yaml", func(e *v1alpha1.PerfExperiment) {
		e.Spec.Design.Blocks = 1
		e.Spec.Scenarios[0].Loads[0].Script.Arguments = []string{"--duration", "35s"}
		e.Spec.Measurement.WarmUp = &metav1.Duration{Duration: 3 * time.Second}
		e.Spec.Measurement.Interval = &metav1.Duration{Duration: 2 * time.Second}
	})
	awaitPhase(ctx, t, experiment, v1alpha1.RunLoading, 10*time.Minute)
	t.Run("nothing refers to FOLIO", func(t *testing.T) { assertNoFOLIO(ctx, t, home) })
	awaitComplete(ctx, t, experiment, 20*time.Minute)

	done := runs(ctx, t, home)
	if len(done) != 3 {
		t.Fatalf("%d runs were done, want 3 arms x 1 block, and none of them twice", len(done))
	}
	for _, run := range done {
		t.Run(run.Spec.Arm, func(t *testing.T) { assertLogins(t, run) })
	}
	t.Run("report", func(t *testing.T) { assertReport(t, experiment) })
}

// assertLogins checks that the run is valid, has the heap and the pods that its arm
// declares, and every pod served requests.
func assertLogins(t *testing.T, run v1alpha1.PerfRun) {
	t.Helper()
	const mebibyte = 1 << 20
	want := map[string]struct {
		replicas int
		heap     int64
	}{"xmx": {1, 384}, "half-of-memory": {1, 512}, "two-replicas": {2, 384}}[run.Spec.Arm]
	if run.Status.Phase != v1alpha1.RunSucceeded || run.Status.Effective == nil || run.Status.Servers == nil {
		t.Fatalf("the run is %s: %s", run.Status.Phase, run.Status.Message)
	}
	module := run.Status.Effective.Modules[0]
	if module.Heap == nil || module.Heap.Value() != want.heap*mebibyte || len(module.Pods) != want.replicas || module.Restarts != 0 {
		t.Errorf("%+v, want %d pods with a heap of %d MiB and no restart", module, want.replicas, want.heap)
	}
	if want.replicas > 1 {
		assertShared(t, run, want.replicas)
	}
	assertAnswered(t, run)
}

// assertShared checks that each of several pods worked. The load is too short to compare
// their shares: a pod's samples cover fifteen seconds, including its start.
func assertShared(t *testing.T, run v1alpha1.PerfRun, replicas int) {
	t.Helper()
	pods := run.Status.Servers.Pods
	if len(pods) != replicas {
		t.Fatalf("pods %+v, want %d", pods, replicas)
	}
	for _, pod := range pods {
		if decimal(t, pod.CPU) < 0.05 {
			t.Errorf("pod %s used %s CPUs", pod.Name, pod.CPU)
		}
	}
}

// assertAnswered checks that there were requests and checks, that all passed, and that both
// groups are transactions.
func assertAnswered(t *testing.T, run v1alpha1.PerfRun) {
	t.Helper()
	load := run.Status.Loads[0]
	for what, share := range map[string]*v1alpha1.FailedShare{"requests": load.Requests, "checks": load.Checks} {
		if share == nil || share.Count < 20 || share.FailedPercent != "0" {
			t.Errorf("%s: %+v, want 20 or more, and none failed", what, share)
		}
	}
	for _, metric := range []string{"login/Log in/samples", "login/User info/samples", "login/Log in/p95", "login/requestsPerSecond", "module/keycloak/cpu/average", "postgres/primary/cpu/average"} {
		if observed(t, run, metric) <= 0 {
			t.Errorf("%s is 0", metric)
		}
	}
}

// assertNoFOLIO checks that no pod of a system under load, including the load's own pods,
// has variables that refer to FOLIO.
func assertNoFOLIO(ctx context.Context, t *testing.T, namespace string) {
	t.Helper()
	var pods corev1.PodList
	await.Until(ctx, t, time.Minute, "pods of Keycloak and of its load", func() (bool, string) {
		expect.NoError(t, cluster.List(ctx, &pods, client.InNamespace(namespace)))
		var names []string
		for _, pod := range pods.Items {
			names = append(names, pod.Spec.Containers[0].Name)
		}
		return slices.Contains(names, "keycloak") && slices.Contains(names, "k6"), fmt.Sprint(names)
	})
	folio := regexp.MustCompile(`(?i)okapi|tenant|folio|diku`)
	for _, pod := range pods.Items {
		for _, variable := range pod.Spec.Containers[0].Env {
			if reported := variable.Name + "=" + variable.Value; folio.MatchString(reported) {
				t.Errorf("pod %s has the variable %s", pod.Name, reported)
			}
		}
	}
}

func assertReport(t *testing.T, experiment *v1alpha1.PerfExperiment) {
	t.Helper()
	report := commandLine(t).must(t, "report", experiment.Name, "-n", experiment.Namespace, "-o", "md")
	expect.Contains(t, report, []string{"half-of-memory", "two-replicas", "Log in", "User info", "512"})
	if strings.Contains(report, "FOLIO") || strings.Contains(report, "Okapi") {
		t.Error("the report mentions FOLIO")
	}
}
