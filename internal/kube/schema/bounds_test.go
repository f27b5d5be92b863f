// SPDX-License-Identifier: Apache-2.0

package schema_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/config/crd"
	"perflab.dev/perflab/internal/testing/expect"
)

// opaque are the fields with a third-party schema. Admission bounds the bytes and the
// values of their spec.
var opaque = map[string]bool{"affinity": true, "manifest": true, "merge": true}

// An unbounded field could fill the memory of every reader, and a rule over it could cost
// the API server any amount of time.
func TestSchemaBoundsEveryField(t *testing.T) {
	for name, schema := range schemas(t) {
		for _, part := range []string{"spec", "status"} {
			if root, has := schema.Properties[part]; has {
				eachUnbounded(&root, part, part, func(path, lacks string) { t.Errorf("%s: %s has no %s", name, path, lacks) })
			}
		}
	}
}

func schemas(t *testing.T) map[string]*apiextensionsv1.JSONSchemaProps {
	t.Helper()
	entries, err := crd.Definitions.ReadDir(".")
	expect.NoError(t, err)
	found := map[string]*apiextensionsv1.JSONSchemaProps{}
	for _, entry := range entries {
		text, err := crd.Definitions.ReadFile(entry.Name())
		expect.NoError(t, err)
		definition := &apiextensionsv1.CustomResourceDefinition{}
		expect.NoError(t, yaml.UnmarshalStrict(text, definition))
		for _, version := range definition.Spec.Versions {
			found[entry.Name()+" "+version.Name] = version.Schema.OpenAPIV3Schema
		}
	}
	return found
}

func eachUnbounded(of *apiextensionsv1.JSONSchemaProps, path, name string, tell func(path, lacks string)) {
	isOpen := of.XPreserveUnknownFields != nil && *of.XPreserveUnknownFields
	switch {
	case isOpen && !opaque[name]:
		tell(path, "schema")
	case of.XIntOrString && of.MaxLength == nil, of.Type == "string" && of.MaxLength == nil && len(of.Enum) == 0 && of.Format == "":
		tell(path, "maxLength")
	case of.Type == "array" && of.MaxItems == nil:
		tell(path, "maxItems")
	case of.Type == "object" && of.AdditionalProperties != nil && of.MaxProperties == nil:
		tell(path, "maxProperties")
	}
	for property, schema := range of.Properties {
		eachUnbounded(&schema, path+"."+property, property, tell)
	}
	if of.Items != nil && of.Items.Schema != nil {
		eachUnbounded(of.Items.Schema, path+"[]", "", tell)
	}
	if of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil {
		eachUnbounded(of.AdditionalProperties.Schema, path+"{}", "", tell)
	}
}
