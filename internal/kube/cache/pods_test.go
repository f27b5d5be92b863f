// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/testing/expect"
)

func TestPodReaderSelectsCacheByLabel(t *testing.T) {
	pod := func(name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, Labels: labels}}
	}
	live := fake.NewClientBuilder().WithObjects(pod("theirs", map[string]string{"app": "shop"})).Build()
	known := fake.NewClientBuilder().WithObjects(pod("module", map[string]string{v1alpha1.LabelExperiment: "demo", "app": "shop"})).Build()
	asked := ""
	pods := cache.PodReader{Reader: live, Cached: func(label string) client.Reader { asked = label; return known }}
	for name, tc := range map[string]struct {
		selector client.ListOption
		want     string
	}{
		"experiment": {client.MatchingLabels{"app": "shop", v1alpha1.LabelExperiment: "demo"}, v1alpha1.LabelExperiment},
		"TestRun":    {client.HasLabels{contract.LabelTestRun}, v1alpha1.LabelExperiment},
		"Kafka":      {client.MatchingLabels{contract.LabelStrimziCluster: "demo"}, contract.LabelStrimziCluster},
		"PostgreSQL": {client.MatchingLabels{contract.LabelPostgresCluster: "demo-pg"}, contract.LabelPostgresCluster},
	} {
		found := &corev1.PodList{}
		expect.NoError(t, pods.List(t.Context(), found, tc.selector))
		expect.Equal(t, tc.want, asked, "cache for pods of %s", name)
		if name == "experiment" && (len(found.Items) != 1 || found.Items[0].Name != "module") {
			t.Errorf("found %v", found.Items)
		}
	}
	// The live reader does not have the cached pod, so reading it would fail.
	for _, name := range []string{"theirs", "module"} {
		if err := pods.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: name}, &corev1.Pod{}); err != nil {
			t.Errorf("reading %s: %v", name, err)
		}
	}
}

// No single cache has all such pods: the list would be incomplete.
func TestPodReaderRefusesListsOfUncachedPods(t *testing.T) {
	pods := cache.PodReader{Cached: func(string) client.Reader { return fake.NewClientBuilder().Build() }}
	for name, which := range map[string][]client.ListOption{
		"all":              {client.InNamespace("lab")},
		"by another label": {client.MatchingLabels{"app": "shop"}},
	} {
		if err := pods.List(t.Context(), &corev1.PodList{}, which...); !errors.Is(err, cache.ErrUncachedPods) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
