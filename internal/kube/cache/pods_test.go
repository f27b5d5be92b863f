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
)

func TestPodsAreReadWhereTheyAreKnown(t *testing.T) {
	pod := func(name string, labels map[string]string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, Labels: labels}}
	}
	live := fake.NewClientBuilder().WithObjects(pod("theirs", map[string]string{"app": "shop"})).Build()
	known := fake.NewClientBuilder().WithObjects(pod("module", map[string]string{v1alpha1.LabelExperiment: "demo", "app": "shop"})).Build()
	asked := ""
	pods := cache.PodReader{Reader: live, Cached: func(label string) client.Reader { asked = label; return known }}
	for label, which := range map[string]client.ListOption{
		v1alpha1.LabelExperiment:      client.MatchingLabels{"app": "shop", v1alpha1.LabelExperiment: "demo"},
		contract.LabelTestRun:         client.HasLabels{contract.LabelTestRun},
		contract.LabelStrimziCluster:  client.MatchingLabels{contract.LabelStrimziCluster: "demo"},
		contract.LabelPostgresCluster: client.MatchingLabels{contract.LabelPostgresCluster: "demo-pg"},
	} {
		found := &corev1.PodList{}
		if err := pods.List(t.Context(), found, which); err != nil || asked != label {
			t.Errorf("listing by %s asked the cache of %q: %v", label, asked, err)
		}
		if label == v1alpha1.LabelExperiment && (len(found.Items) != 1 || found.Items[0].Name != "module") {
			t.Errorf("found %v", found.Items)
		}
	}
	// The live reader has not what the cache has, and is not asked for it.
	for _, name := range []string{"theirs", "module"} {
		if err := pods.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: name}, &corev1.Pod{}); err != nil {
			t.Errorf("reading %s: %v", name, err)
		}
	}
}

// A list that no cache has as a whole would be one of the pods that happen to be there.
func TestPodsThatMayNotBeOursAreInNoList(t *testing.T) {
	pods := cache.PodReader{Cached: func(string) client.Reader { return fake.NewClientBuilder().Build() }}
	for name, which := range map[string][]client.ListOption{
		"all":                     {client.InNamespace("lab")},
		"by a label of anybody's": {client.MatchingLabels{"app": "shop"}},
	} {
		if err := pods.List(t.Context(), &corev1.PodList{}, which...); !errors.Is(err, cache.ErrUncachedPods) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
