// SPDX-License-Identifier: Apache-2.0

// Command crd finishes generated definitions. It bounds what has no bound of its own, such
// as the fields of Kubernetes' own types, which can have no markers of ours: what is not
// bounded, a few objects of one namespace fill the operator's memory with. And it takes
// descriptions out that stand in another place as well, for every API server and every
// release of the chart would keep all of that text twice.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// repeated are the fields whose descriptions stand elsewhere, by kind: an experiment's
// are in PerfExperiment, and those of a level's set in that of an arm.
var repeated = map[string][]string{
	"PerfSchedule":   {"spec", "template", "spec"},
	"PerfExperiment": {"spec", "matrix", "factors", "levels", "set"},
}

// Bounds of what has none of its own. A spec as a whole is bounded by admission.
const (
	maxItems      = 256
	maxProperties = 256
	maxLength     = 32 << 10
	// maxQuantity is what a number with its unit may take as text.
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
	// What the generator writes is kept as it is, so no type is read into.
	var definition map[string]any
	if err := yaml.Unmarshal(text, &definition); err != nil {
		return fmt.Errorf("parsing %s: %w", path, err)
	}
	for _, schema := range schemasOf(definition) {
		for _, part := range []string{"spec", "status"} {
			bound(propertyOf(schema, part))
		}
		if err := shorten(schema, repeated[kindOf(definition)]); err != nil {
			return fmt.Errorf("%s: %w", path, err)
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

func kindOf(definition map[string]any) string {
	spec, _ := definition["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	return kind
}

// schemasOf are those of each version.
func schemasOf(definition map[string]any) []map[string]any {
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

// propertyOf is the schema of a field, of the entries where it is a list; nil: there is none.
func propertyOf(schema map[string]any, name string) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	property, _ := properties[name].(map[string]any)
	if items, is := property["items"].(map[string]any); is {
		return items
	}
	return property
}

// shorten takes the descriptions of what is in a field away; of no field, none.
func shorten(schema map[string]any, field []string) error {
	if len(field) == 0 {
		return nil
	}
	for _, name := range field {
		schema = propertyOf(schema, name)
	}
	properties, is := schema["properties"].(map[string]any)
	if !is {
		return fmt.Errorf("%w: %v", errNotThere, field)
	}
	for _, property := range properties {
		each(property, func(schema map[string]any) { delete(schema, "description") })
	}
	return nil
}

// bound gives everything in a schema a bound that has none.
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

// each goes through a schema and all schemas in it. A property may itself be called
// description.
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
