// SPDX-License-Identifier: Apache-2.0

// Command crd takes the descriptions of an embedded experiment out of the definition of
// PerfSchedules: PerfExperiment has them, and every API server and every release of the
// chart would keep all of that text twice.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// embedded is where the experiment stands.
var embedded = []string{"spec", "template", "spec"}

var errNotThere = errors.New("the definition has no such field")

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: crd FILE")
		os.Exit(2)
	}
	if err := shorten(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "crd:", err)
		os.Exit(1)
	}
}

func shorten(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the definition: %w", err)
	}
	// What the generator writes is kept as it is, so no type is read into.
	var definition map[string]any
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return fmt.Errorf("parsing %s: %w", path, err)
	}
	schemas, err := schemasOf(definition)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, schema := range schemas {
		for _, property := range schema {
			strip(property)
		}
	}
	written, err := yaml.Marshal(definition)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := yaml.UnmarshalStrict(written, &apiextensionsv1.CustomResourceDefinition{}); err != nil {
		return fmt.Errorf("what came out is no definition: %w", err)
	}
	return os.WriteFile(path, slices.Concat([]byte("---\n"), written), 0o644)
}

// schemasOf are the properties of the embedded experiment, for each version.
func schemasOf(definition map[string]any) ([]map[string]any, error) {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	var found []map[string]any
	for _, version := range versions {
		served, _ := version.(map[string]any)
		schema, _ := served["schema"].(map[string]any)
		node, _ := schema["openAPIV3Schema"].(map[string]any)
		for _, name := range embedded {
			properties, _ := node["properties"].(map[string]any)
			node, _ = properties[name].(map[string]any)
		}
		properties, is := node["properties"].(map[string]any)
		if !is {
			return nil, fmt.Errorf("%w: %v", errNotThere, embedded)
		}
		found = append(found, properties)
	}
	return found, nil
}

// strip takes the descriptions of a schema and of all schemas in it away. A property may
// itself be called description.
func strip(node any) {
	schema, is := node.(map[string]any)
	if !is {
		return
	}
	delete(schema, "description")
	for key, value := range schema {
		switch key {
		case "properties":
			properties, _ := value.(map[string]any)
			for _, property := range properties {
				strip(property)
			}
		case "items", "additionalProperties":
			strip(value)
		case "allOf", "anyOf", "oneOf":
			parts, _ := value.([]any)
			for _, part := range parts {
				strip(part)
			}
		}
	}
}
