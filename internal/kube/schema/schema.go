// SPDX-License-Identifier: Apache-2.0

// Package schema reads manifests as the API server would: it rejects unknown
// fields, sets defaults, and checks the schema and its CEL rules, with the same
// messages. It needs no cluster.
package schema

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/config/crd"
	"perflab.dev/perflab/internal/text/prose"
)

// definition is the schema of one kind.
type definition struct {
	kind       string
	structural *structural.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

// definitions are the schemas of this version by kind in lower case. Each is compiled on
// first use, which takes tenths of a second.
var definitions = embedded()

func embedded() map[string]func() (*definition, error) {
	found := map[string]func() (*definition, error){}
	entries, err := crd.Definitions.ReadDir(".")
	if err != nil {
		panic(err) // Embedded files can be listed.
	}
	for _, entry := range entries {
		plural := strings.TrimSuffix(strings.TrimPrefix(entry.Name(), v1alpha1.GroupVersion.Group+"_"), ".yaml")
		found[strings.TrimSuffix(plural, "s")] = sync.OnceValues(func() (*definition, error) { return compile(entry.Name()) })
	}
	return found
}

func compile(file string) (*definition, error) {
	text, err := crd.Definitions.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var external apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &external); err != nil {
		return nil, fmt.Errorf("parsing %s: %w", file, err)
	}
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, internal, nil); err != nil {
		return nil, fmt.Errorf("converting %s: %w", file, err)
	}
	schema, err := apiextensions.GetSchemaForVersion(internal, v1alpha1.GroupVersion.Version)
	if err != nil {
		return nil, fmt.Errorf("finding version %s in %s: %w", v1alpha1.GroupVersion.Version, file, err)
	}
	known := &definition{kind: internal.Spec.Names.Kind}
	if known.structural, err = structural.NewStructural(schema.OpenAPIV3Schema); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", file, err)
	}
	if known.validator, _, err = validation.NewSchemaValidator(schema.OpenAPIV3Schema); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", file, err)
	}
	known.rules = cel.NewValidator(known.structural, true, celconfig.PerCallLimit)
	return known, nil
}

// Documents splits a YAML stream into its objects.
func Documents(stream io.Reader) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	documents := utilyaml.NewYAMLReader(bufio.NewReader(stream))
	for number := 1; ; number++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading document %d: %w", number, err)
		}
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		object, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("reading document %d: %w", number, err)
		}
		objects = append(objects, object)
	}
}

// IsOurs reports whether an object is one of PerfLab's.
func IsOurs(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().Group == v1alpha1.GroupVersion.Group
}

var errNoObject = errors.New("it is not a Kubernetes object, which has apiVersion and kind")

// parse keeps integers, which rules expect.
func parse(document []byte) (*unstructured.Unstructured, error) {
	encoded, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, fmt.Errorf("parsing YAML: %w", err)
	}
	object := &unstructured.Unstructured{}
	if begins := bytes.TrimSpace(encoded); len(begins) == 0 || begins[0] != '{' {
		return nil, errNoObject
	}
	if err := utiljson.Unmarshal(encoded, &object.Object); err != nil {
		return nil, fmt.Errorf("parsing an object: %w", err)
	}
	return object, nil
}

// Check sets defaults and returns the errors that the API server would report.
func Check(ctx context.Context, object *unstructured.Unstructured) field.ErrorList {
	compiled, found := definitions[strings.ToLower(object.GetKind())]
	if !found {
		return notSupported(object)
	}
	known, err := compiled()
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("kind"), err)}
	}
	if object.GroupVersionKind() != v1alpha1.GroupVersion.WithKind(known.kind) {
		return notSupported(object)
	}
	var faults field.ErrorList
	options := structural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(object.Object, known.structural, true, options) {
		faults = append(faults, field.Invalid(field.NewPath(path), nil, unknownField(known.structural, path)))
	}
	defaulting.Default(object.Object, known.structural)
	faults = append(faults, validation.ValidateCustomResource(nil, object.Object, known.validator)...)
	faults = append(faults, listtype.ValidateListSetsAndMaps(nil, known.structural, object.Object)...)
	if len(faults) > 0 {
		// Rules may rely on a valid schema.
		return faults
	}
	broken, _ := known.rules.Validate(ctx, nil, known.structural, object.Object, nil, math.MaxInt64)
	return broken
}

// unknownField returns advice for an unknown field: the closest name of its siblings, if
// any.
func unknownField(root *structural.Structural, path string) string {
	names := strings.Split(path, ".")
	last := len(names) - 1
	if at := descend(root, names[:last]); at != nil {
		if near := prose.Closest(names[last], slices.Sorted(maps.Keys(at.Properties))); near != "" {
			return "unknown field: did you mean " + near + "?"
		}
	}
	return "unknown field: correct its spelling or its place, or remove it"
}

// descend returns the schema at a path, such as spec and arms[0]; nil if a name is no
// field.
func descend(at *structural.Structural, names []string) *structural.Structural {
	for _, name := range names {
		name, _, isItem := strings.Cut(name, "[")
		child, found := at.Properties[name]
		switch {
		case !found:
			return nil
		case isItem && child.Items != nil:
			at = child.Items
		default:
			at = &child
		}
	}
	return at
}

func notSupported(object *unstructured.Unstructured) field.ErrorList {
	return field.ErrorList{field.NotSupported(field.NewPath("kind"), object.GetAPIVersion()+" "+object.GetKind(),
		[]string{
			v1alpha1.GroupVersion.String() + " PerfExperiment", v1alpha1.GroupVersion.String() + " PerfSchedule",
			v1alpha1.GroupVersion.String() + " PerfSystem",
		})}
}
