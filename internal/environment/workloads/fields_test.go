// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"strings"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/yamlcmp"
)

func TestUndoRestoresOnlyOurFields(t *testing.T) {
	cases := map[string]struct{ was, is, ours, want string }{
		"a value that was there": {
			was: `{spec: {replicas: 2}}`, is: `{spec: {replicas: 5, paused: true}}`, ours: `{"f:spec":{"f:replicas":{}}}`,
			want: `{spec: {replicas: 2, paused: true}}`,
		},
		"a value that was not, with what led to it": {
			was: `{spec: {}}`, is: `{spec: {resources: {limits: {memory: 1Gi}}}}`, ours: `{"f:spec":{"f:resources":{"f:limits":{"f:memory":{}}}}}`,
			want: `{spec: {}}`,
		},
		"others' values beside it": {
			was: `{spec: {}}`, is: `{spec: {resources: {limits: {memory: 1Gi, cpu: "1"}}}}`, ours: `{"f:spec":{"f:resources":{"f:limits":{"f:memory":{}}}}}`,
			want: `{spec: {resources: {limits: {cpu: "1"}}}}`,
		},
		"an item that was not there": {
			was: `{spec: {env: [{name: A, value: a}]}}`, is: `{spec: {env: [{name: A, value: a}, {name: B, value: b}]}}`,
			ours: `{"f:spec":{"f:env":{"k:{\"name\":\"B\"}":{".":{},"f:name":{},"f:value":{}}}}}`,
			want: `{spec: {env: [{name: A, value: a}]}}`,
		},
		"an item that is only a name": {
			was: `{spec: {env: [{name: A, value: a}]}}`, is: `{spec: {env: [{name: A, value: a}, {name: B}]}}`,
			ours: `{"f:spec":{"f:env":{"k:{\"name\":\"B\"}":{".":{},"f:name":{}}}}}`,
			want: `{spec: {env: [{name: A, value: a}]}}`,
		},
		"an item of ours to which another has given a value": {
			was: `{spec: {env: []}}`, is: `{spec: {env: [{name: B, value: theirs}]}}`,
			ours: `{"f:spec":{"f:env":{"k:{\"name\":\"B\"}":{".":{},"f:name":{}}}}}`,
			want: `{spec: {env: [{name: B, value: theirs}]}}`,
		},
		"an item of theirs in which we had a value": {
			was: `{spec: {env: [{name: A, value: a}]}}`, is: `{spec: {env: [{name: A, value: ours}]}}`,
			ours: `{"f:spec":{"f:env":{"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}}}}`,
			want: `{spec: {env: [{name: A, value: a}]}}`,
		},
		"an item that another client removed": {
			was: `{spec: {env: [{name: A, value: a}]}}`, is: `{spec: {}}`, ours: `{}`, want: `{spec: {}}`,
		},
		"the order": {
			was:  `{spec: {env: [{name: A}, {name: B}, {name: C}]}}`,
			is:   `{spec: {env: [{name: C}, {name: X}, {name: A}, {name: B}, {name: OURS}]}}`,
			ours: `{"f:spec":{"f:env":{"k:{\"name\":\"OURS\"}":{".":{},"f:name":{}}}}}`,
			want: `{spec: {env: [{name: A}, {name: B}, {name: C}, {name: X}]}}`,
		},
		"a list as a whole": {
			was: `{spec: {tolerations: [{key: a}]}}`, is: `{spec: {tolerations: [{key: b}, {key: c}]}}`, ours: `{"f:spec":{"f:tolerations":{}}}`,
			want: `{spec: {tolerations: [{key: a}]}}`,
		},
		"a key with dots": {
			was: `{metadata: {annotations: {a/b: x}}}`, is: `{metadata: {annotations: {a/b: x, perflab.dev/c: y}}}`,
			ours: `{"f:metadata":{"f:annotations":{"f:perflab.dev/c":{}}}}`,
			want: `{metadata: {annotations: {a/b: x}}}`,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ours := fieldpath.NewSet()
			expect.NoError(t, ours.FromJSON(strings.NewReader(c.ours)))
			object := func(text string) map[string]any {
				return yamlcmp.Object(t, "kind: Deployment\napiVersion: apps/v1\nis: "+text).Object["is"].(map[string]any)
			}
			is, was := object(c.is), object(c.was)
			undo(is, was, ours)
			yamlcmp.Equal(t, is, c.want)
			yamlcmp.Equal(t, was, c.was)
		})
	}
}
