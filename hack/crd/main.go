// SPDX-License-Identifier: Apache-2.0

// Command crd completes generated definitions. It bounds fields without a bound, such as those of
// Kubernetes' types, which can't have our markers: without bounds, a few objects of one namespace
// could fill the operator's memory. It also removes repeated descriptions, which every API server
// and every release of the chart would store twice.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// repeated are the fields whose descriptions are elsewhere, by kind: an experiment's are in
// PerfExperiment, and those of a level's set are in that of an arm.
var repeated = map[string][]string{
	"PerfSchedule":   {"spec", "template", "spec"},
	"PerfExperiment": {"spec", "matrix", "factors", "levels", "set"},
}

// documented are the fields with a type of Kubernetes, whose reference describes the fields below.
// Their descriptions were a sixth of the largest definition, which must fit into the annotation
// that a client-side apply writes (TestDefinitionsFitClientSideApply).
var documented = []string{"env", "resources", "tolerations"}

// Bounds of fields without their own. Admission bounds a spec as a whole.
const (
	maxItems      = 256
	maxProperties = 256
	maxLength     = 32 << 10
	// maxQuantity is the maximum length of a quantity's text.
	maxQuantity = 64
)

var errNotThere = errors.New("the definition has no such field")

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: crd FILE...")
		os.Exit(2)
	}
	for _, file := range os.Args[1:] {
		if err := finish(file); err != nil {
			fmt.Fprintln(os.Stderr, "crd:", err)
			os.Exit(1)
		}
	}
}

func finish(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the definition: %w", err)
	}
	// The definition is read without a type, so that the rest stays as generated.
	var definition map[string]any
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return fmt.Errorf("parsing %s: %w", path, err)
	}
	for _, schema := range versionSchemas(definition) {
		for _, part := range []string{"spec", "status"} {
			bound(property(schema, part))
		}
		if err := shorten(schema, repeated[definitionKind(definition)]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		each(schema, omitDocumented)
	}
	written, err := yaml.Marshal(definition)
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := yaml.UnmarshalStrict(written, &apiextensionsv1.CustomResourceDefinition{}); err != nil {
		return fmt.Errorf("the result is not a CustomResourceDefinition: %w", err)
	}
	return os.WriteFile(path, slices.Concat([]byte("---\n"), written), 0o644)
}

func definitionKind(definition map[string]any) string {
	spec, _ := definition["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	return kind
}

// versionSchemas are those of each version.
func versionSchemas(definition map[string]any) []map[string]any {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	var found []map[string]any
	for _, version := range versions {
		served, _ := version.(map[string]any)
		schema, _ := served["schema"].(map[string]any)
		if root, is := schema["openAPIV3Schema"].(map[string]any); is {
			found = append(found, root)
		}
	}
	return found
}

// property is the schema of a field, or of the elements of a list; nil: none.
func property(schema map[string]any, name string) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	property, _ := properties[name].(map[string]any)
	if items, is := property["items"].(map[string]any); is {
		return items
	}
	return property
}

// shorten removes the descriptions below a field; without a field, none.
func shorten(schema map[string]any, field []string) error {
	if len(field) == 0 {
		return nil
	}
	for _, name := range field {
		schema = property(schema, name)
	}
	properties, is := schema["properties"].(map[string]any)
	if !is {
		return fmt.Errorf("%w: %v", errNotThere, field)
	}
	omitDescriptions(properties)
	return nil
}

func omitDescriptions(properties map[string]any) {
	for _, property := range properties {
		each(property, func(schema map[string]any) { delete(schema, "description") })
	}
}

// omitDocumented removes the descriptions below a schema's fields with a type of Kubernetes.
func omitDocumented(schema map[string]any) {
	for _, name := range documented {
		if properties, is := property(schema, name)["properties"].(map[string]any); is {
			omitDescriptions(properties)
		}
	}
}

// bound adds a bound to everything in a schema without one.
func bound(schema map[string]any) {
	each(schema, func(schema map[string]any) {
		lacks := func(names ...string) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return schema[name] != nil })
		}
		switch {
		case schema["x-kubernetes-int-or-string"] == true && lacks("maxLength"):
			schema["maxLength"] = maxQuantity
		case schema["type"] == "string" && lacks("maxLength", "enum", "format"):
			schema["maxLength"] = maxLength
		case schema["type"] == "array" && lacks("maxItems"):
			schema["maxItems"] = maxItems
		case schema["type"] == "object" && schema["additionalProperties"] != nil && lacks("maxProperties"):
			schema["maxProperties"] = maxProperties
		}
	})
}

// each visits a schema and all schemas in it. A property may itself be called description.
func each(node any, do func(schema map[string]any)) {
	schema, is := node.(map[string]any)
	if !is {
		return
	}
	do(schema)
	for key, value := range schema {
		switch key {
		case "properties":
			properties, _ := value.(map[string]any)
			for _, property := range properties {
				each(property, do)
			}
		case "items", "additionalProperties":
			each(value, do)
		}
	}
}
