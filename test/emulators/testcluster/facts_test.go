// SPDX-License-Identifier: Apache-2.0

package testcluster

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/expect"
)

// TestEventsOfAPIServer creates an event of the API server about an address and one of an
// operator about its Kafka: only the operator's counts.
func TestEventsOfAPIServer(t *testing.T) {
	event := func(name, of string) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}, ReportingController: of}
	}
	c := fake.NewFakeClient(event("address", "ipallocator-repair-controller"), event("kafka", "strimzi.io/cluster-operator"))
	kind := metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}
	expect.Equal(t, []string{"kafka"}, listNames(t, c, "n", kind))
}

// TestDifferences checks the comparison.
func TestDifferences(t *testing.T) {
	const got = `{labels: {a: "1"}, ports: [{port: 1, name: x}, {port: 2}], context: {user: 7}, empty: {}}`
	for name, tc := range map[string]struct {
		want  string
		found []string
	}{
		"some fields of it":       {`{labels: {a: "1"}, ports: [{port: 1}, {port: 2}]}`, nil},
		"another value":           {`{labels: {a: "2"}}`, []string{".labels.a is 1, want 2"}},
		"a field is missing":      {`{labels: {b: "1"}}`, []string{".labels.b is missing, want 1"}},
		"a field too many":        {`{context: null, labels: {c: null}}`, []string{".context is map[user:7], want none"}},
		"an element of a list":    {`{ports: [{port: 1}, {port: 3}]}`, []string{".ports[1].port is 2, want 3"}},
		"a list of another size":  {`{ports: [{port: 1}]}`, []string{".ports is [map[name:x port:1] map[port:2]], want 1 elements"}},
		"an object with nothing":  {`{context: {}, empty: {}}`, []string{".context is map[user:7], want nothing in it"}},
		"an object, not a number": {`{labels: {a: {b: 1}}}`, []string{".labels.a is 1, want an object"}},
	} {
		t.Run(name, func(t *testing.T) {
			var wanted, is map[string]any
			for text, into := range map[string]*map[string]any{tc.want: &wanted, got: &is} {
				expect.NoError(t, yaml.Unmarshal([]byte(text), into))
			}
			expect.Equal(t, tc.found, Differences("", wanted, is))
		})
	}
}
