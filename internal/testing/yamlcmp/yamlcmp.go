// SPDX-License-Identifier: Apache-2.0

// Package yamlcmp compares what a test got with YAML written in the test, the
// form in which people know objects.
package yamlcmp

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Equal fails the test when the value, as YAML, is not what is wanted.
func Equal(t *testing.T, got any, want string) {
	t.Helper()
	if diff := cmp.Diff(canonical(t, []byte(want)), marshalled(t, got)); diff != "" {
		t.Errorf("not as wanted (-want +got):\n%s", diff)
	}
}

// Object reads an object from YAML.
func Object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("reading the test's YAML: %v", err)
	}
	object := &unstructured.Unstructured{}
	// Unmarshalling by way of the object's own JSON keeps whole numbers whole,
	// as a client does; kind and apiVersion may be left out of a test's YAML.
	if _, _, err := unstructured.UnstructuredJSONScheme.Decode(asJSON, nil, object); err != nil {
		t.Fatalf("reading the test's object: %v", err)
	}
	return object
}

func marshalled(t *testing.T, value any) string {
	t.Helper()
	text, err := yaml.Marshal(value)
	if err != nil {
		t.Fatalf("marshalling %T: %v", value, err)
	}
	return canonical(t, text)
}

// canonical writes YAML with sorted keys and one layout.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatalf("reading the test's YAML: %v", err)
	}
	result, err := yaml.Marshal(value)
	if err != nil {
		t.Fatalf("marshalling the test's YAML: %v", err)
	}
	return string(result)
}
