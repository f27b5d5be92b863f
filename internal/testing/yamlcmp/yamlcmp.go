// SPDX-License-Identifier: Apache-2.0

// Package yamlcmp compares values with YAML in the test.
package yamlcmp

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/expect"
)

// Equal fails the test unless the value, as YAML, is the wanted one.
func Equal(t *testing.T, got any, want string) {
	t.Helper()
	expect.Equal(t, canonical(t, []byte(want)), marshalled(t, got), "not as wanted")
}

// Object reads an object from YAML.
func Object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	expect.NoError(t, err, "reading the test's YAML")
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
	expect.NoError(t, err, "marshalling %T", value)
	return canonical(t, text)
}

// canonical writes YAML with sorted keys and one layout.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	var value any
	expect.NoError(t, yaml.Unmarshal(text, &value), "reading the test's YAML")
	result, err := yaml.Marshal(value)
	expect.NoError(t, err, "marshalling the test's YAML")
	return string(result)
}
