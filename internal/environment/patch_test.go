// SPDX-License-Identifier: Apache-2.0

package environment_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

const patchable = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: demo-gateway
  namespace: lab
  labels: {perflab.dev/module: gateway, perflab.dev/experiment: demo}
  annotations: {perflab.dev/fingerprint: "1"}
  ownerReferences: [{apiVersion: perflab.dev/v1alpha1, kind: PerfExperiment, name: demo, uid: "1"}]
spec:
  replicas: 2
  template: {spec: {containers: [{name: module}], hostNetwork: true}}
`

func patch(kind, name, merge string) v1alpha1.Patch {
	return v1alpha1.Patch{Kind: v1alpha1.PatchKind(kind), Name: name, Merge: runtime.RawExtension{Raw: []byte(merge)}}
}

func TestPatched(t *testing.T) {
	cases := map[string]struct {
		patches []v1alpha1.Patch
		want    string
	}{
		"None":        {want: patchable},
		"OtherKind":   {patches: []v1alpha1.Patch{patch("Service", "", `{"spec":{"replicas":3}}`)}, want: patchable},
		"OtherModule": {patches: []v1alpha1.Patch{patch("Deployment", "other", `{"spec":{"replicas":3}}`)}, want: patchable},
		"Change":      {patches: []v1alpha1.Patch{patch("Deployment", "gateway", `{"spec":{"replicas":3}}`)}, want: strings.Replace(patchable, "replicas: 2", "replicas: 3", 1)},
		"TakeAway": {
			patches: []v1alpha1.Patch{patch("Deployment", "", `{"spec":{"template":{"spec":{"hostNetwork":null}}}}`)},
			want:    strings.Replace(patchable, ", hostNetwork: true", "", 1),
		},
		"InOrder": {
			patches: []v1alpha1.Patch{
				patch("Deployment", "", `{"spec":{"replicas":3,"paused":true}}`),
				patch("Deployment", "", `{"spec":{"replicas":4}}`),
			},
			want: strings.Replace(patchable, "replicas: 2", "replicas: 4\n  paused: true", 1),
		},
		"Labels": {
			patches: []v1alpha1.Patch{patch("Deployment", "", `{"metadata":{"labels":{"team":"ptf"}}}`)},
			want:    strings.Replace(patchable, "perflab.dev/experiment: demo", "perflab.dev/experiment: demo, team: ptf", 1),
		},
		"IdentityStays": {
			patches: []v1alpha1.Patch{patch("Deployment", "", `{"apiVersion":"v2","kind":"Pod","metadata":{"name":"x","namespace":"y",
				"ownerReferences":null,"finalizers":["a/b"],"labels":{"perflab.dev/experiment":"other"},"annotations":null}}`)},
			want: patchable,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			intent := yamlcmp.Object(t, patchable)
			got := environment.Patched([]environment.Intent{intent}, tc.patches)
			yamlcmp.Equal(t, got[0], tc.want)
			yamlcmp.Equal(t, intent, patchable)
			// A float for an integer field would make the copy panic.
			got[0].DeepCopy()
		})
	}
}

func TestPatchFault(t *testing.T) {
	cases := map[string]struct{ merge, want string }{
		"Fine":        {merge: `{"spec":{"a":1},"metadata":{"labels":{"team":"ptf"},"annotations":{"a":null}}}`},
		"Empty":       {merge: `{}`, want: "nothing to merge"},
		"NotAnObject": {merge: `[]`, want: "nothing to merge"},
		"Kind":        {merge: `{"kind":"Pod"}`, want: `sets "kind"`},
		"NoMetadata":  {merge: `{"metadata":null}`, want: "removes metadata"},
		"Name":        {merge: `{"metadata":{"name":"x"}}`, want: "sets metadata.name"},
		"NoLabels":    {merge: `{"metadata":{"labels":null}}`, want: "sets metadata.labels"},
		"OurLabel":    {merge: `{"metadata":{"labels":{"perflab.dev/run":"x"}}}`, want: `metadata.labels["perflab.dev/run"]`},
		"StrimziLabel": {
			merge: `{"metadata":{"labels":{"strimzi.io/cluster":"x"}}}`, want: `metadata.labels["strimzi.io/cluster"]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := environment.PatchFault(patch("Kafka", "", tc.merge))
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("gave %v, want %q", err, tc.want)
			}
		})
	}
}
