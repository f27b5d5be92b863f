// SPDX-License-Identifier: Apache-2.0

package argocd_test

import (
	"maps"
	"testing"

	"github.com/argoproj/argo-cd/v3/util/argo/normalizers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestStatusIsNotDiffed checks that the status of our objects is not compared, even if an
// installation compares status.
func TestStatusIsNotDiffed(t *testing.T) {
	everything := func(data map[string]string) { data["resource.compareoptions"] = "ignoreResourceStatusField: none" }
	foreign := func(data map[string]string) {
		everything(data)
		maps.DeleteFunc(data, func(key, _ string) bool { return key != "resource.compareoptions" })
	}
	live := &unstructured.Unstructured{}
	read(t, "testdata/PerfExperiment-worse.yaml", &live.Object)
	for name, c := range map[string]struct {
		settings func(map[string]string)
		compares bool
	}{
		"with our settings":    {everything, false},
		"without our settings": {foreign, true},
	} {
		t.Run(name, func(t *testing.T) {
			normalizer, err := normalizers.NewIgnoreNormalizer(nil, overrides(t, c.settings), normalizers.IgnoreNormalizerOpts{})
			if err != nil {
				t.Fatal(err)
			}
			compared := live.DeepCopy()
			if err := normalizer.Normalize(compared); err != nil {
				t.Fatal(err)
			}
			if _, compares := compared.Object["status"]; compares != c.compares {
				t.Errorf("status is compared: %v, want %v", compares, c.compares)
			}
		})
	}
}
