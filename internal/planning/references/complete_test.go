// SPDX-License-Identifier: Apache-2.0

package references_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/references"
	"perflab.dev/perflab/internal/testing/crds"
	"perflab.dev/perflab/internal/testing/expect"
)

// marker is the value of every name.
const marker = "marker"

// speaksOfOthers matches fields that may refer to an object, by their names or by those of their
// types.
var speaksOfOthers = regexp.MustCompile(`Secret|ConfigMap|Claim|Volume|Account|Ref$|Credential|Token|Patch|Merge|Security|Host(Path|Network|PID|IPC)|PriceList|CA$`).MatchString

// harmless are matching fields that refer to no object, with reasons.
var harmless = map[string]string{
	"PerfExperimentSpec.SystemRef":  "the system is read and judged instead",
	"Patch.Kind":                    "says which of the experiment's own objects is patched",
	"EnvVarSource.FieldRef":         "is about the pod itself",
	"EnvVarSource.ResourceFieldRef": "is about the pod itself",
	"EnvVarSource.FileKeyRef":       "is about a volume of the pod",
	"FileKeySelector.VolumeName":    "names a volume of the pod",
	"ResourceRequirements.Claims":   "names a claim of the pod, which a patch would have to declare",
}

// Every field that may be a reference is known, so a new one fails this test until it is
// classified.
func TestEveryFieldIsKnown(t *testing.T) {
	seen, met := 0, map[string]bool{}
	each(reflect.TypeFor[v1alpha1.PerfExperimentSpec](), nil, func(owner reflect.Type, declared reflect.StructField, trail []step) {
		if !speaksOfOthers(declared.Name) && !speaksOfOthers(nameOf(declared.Type)) {
			return
		}
		if name := owner.Name() + "." + declared.Name; harmless[name] != "" {
			met[name] = true
			return
		}
		seen++
		if needs := references.Experiment(holding(trail), nil); len(needs) == 0 {
			t.Errorf("%s.%s of type %s is not known: teach internal/reach what it refers to, or say here why it refers to nothing", owner.Name(), declared.Name, declared.Type)
		}
	})
	if seen < 20 {
		t.Errorf("only %d fields were looked at", seen)
	}
	for name := range harmless {
		if !met[name] {
			t.Errorf("there is no %s that one could take for a reference", name)
		}
	}
}

// step is the index of a field in its type.
type step int

// each visits all fields below a type, with the path to each.
func each(declared reflect.Type, trail []step, visit func(reflect.Type, reflect.StructField, []step)) {
	for declared.Kind() == reflect.Pointer || declared.Kind() == reflect.Slice {
		declared = declared.Elem()
	}
	if declared.Kind() != reflect.Struct {
		if declared.Kind() == reflect.Map && declared.Elem().Kind() != reflect.String && declared.Elem() != reflect.TypeFor[resource.Quantity]() {
			// Neither this test nor internal/reach visits such maps.
			panic(fmt.Sprintf("a map of %s may hold references: teach internal/reach to walk it", declared.Elem()))
		}
		return
	}
	for i := range declared.NumField() {
		if !declared.Field(i).IsExported() {
			continue
		}
		here := append(slices.Clone(trail), step(i))
		visit(declared, declared.Field(i), here)
		each(declared.Field(i).Type, here, visit)
	}
}

func nameOf(declared reflect.Type) string {
	for declared.Kind() == reflect.Pointer || declared.Kind() == reflect.Slice {
		declared = declared.Elem()
	}
	return declared.Name()
}

// holding returns an experiment with only the fields on the path, in which every string is the
// marker and every object is set.
func holding(trail []step) *v1alpha1.PerfExperimentSpec {
	spec := &v1alpha1.PerfExperimentSpec{}
	at := reflect.ValueOf(spec).Elem()
	for _, step := range trail {
		at = made(at).Field(int(step))
	}
	fill(at)
	return spec
}

// made returns the object at a place, which it creates if necessary.
func made(at reflect.Value) reflect.Value {
	switch at.Kind() {
	case reflect.Pointer:
		at.Set(reflect.New(at.Type().Elem()))
		return made(at.Elem())
	case reflect.Slice:
		at.Set(reflect.MakeSlice(at.Type(), 1, 1))
		return made(at.Index(0))
	default:
		return at
	}
}

func fill(at reflect.Value) {
	at = made(at)
	switch at.Kind() {
	case reflect.String:
		at.SetString(marker)
	case reflect.Struct:
		if raw, isRaw := at.Addr().Interface().(*runtime.RawExtension); isRaw {
			raw.Raw = []byte(`{"spec":{"template":{"spec":{"hostNetwork":true}}}}`)
			return
		}
		for i := range at.NumField() {
			if at.Type().Field(i).IsExported() {
				fill(at.Field(i))
			}
		}
	default:
		// A value that is no name does not matter.
	}
}

// Every reference in Kubernetes' pods, Strimzi's and CloudNativePG's objects is found in patches.
func TestEveryReferenceOfPatchedKindsIsKnown(t *testing.T) {
	for kind, schema := range schemas {
		t.Run(string(kind), func(t *testing.T) {
			seen := 0
			for _, path := range referring(schema(t), nil) {
				seen++
				merge, err := json.Marshal(patchOf(path))
				expect.NoError(t, err)
				if !found(needsOf(t, kind, string(merge))) {
					t.Errorf("%s names something that is not found", strings.Join(path, "."))
				}
			}
			t.Logf("%d fields name something", seen)
			if seen < 3 {
				t.Errorf("only %d fields were looked at", seen)
			}
		})
	}
}

func found(needs []references.Need) bool {
	return slices.ContainsFunc(needs, func(need references.Need) bool {
		return need.Right.Name == marker || strings.Contains(need.Whose, marker)
	})
}

// referring returns the paths of strings that name Secrets, ConfigMaps, claims and accounts: by the
// field's name, or by a name next to a key.
func referring(schema apiextensionsv1.JSONSchemaProps, path []string) [][]string {
	var all [][]string
	if schema.Items != nil && schema.Items.Schema != nil {
		return referring(*schema.Items.Schema, append(slices.Clone(path), "[]"))
	}
	for name, below := range schema.Properties {
		at := append(slices.Clone(path), name)
		if below.Type == "string" && names(schema, path, name) {
			all = append(all, at)
		}
		all = append(all, referring(below, at)...)
	}
	return all
}

var (
	namesBySelf   = regexp.MustCompile(`(?i)^secretName$|^claimName$|^serviceAccount(Name)?$|^[a-z]*secret$`).MatchString
	namesByParent = regexp.MustCompile(`(?i)secret|configMap`).MatchString
)

func names(parent apiextensionsv1.JSONSchemaProps, path []string, name string) bool {
	if namesBySelf(name) {
		return true
	}
	owner := ""
	for _, part := range path {
		if part != "[]" {
			owner = part
		}
	}
	_, hasKey := parent.Properties["key"]
	_, isOperator := parent.Properties["operator"]
	// A catalogue of images has no secrets, and a name that only matches is no reference.
	return name == "name" && owner != "imageCatalogRef" && (namesByParent(owner) || hasKey && !isOperator)
}

// patchOf sets the marker at a path.
func patchOf(path []string) any {
	if len(path) == 0 {
		return marker
	}
	if path[0] == "[]" {
		return []any{patchOf(path[1:])}
	}
	return map[string]any{path[0]: patchOf(path[1:])}
}

// schemas are those of the patchable kinds.
var schemas = map[v1alpha1.PatchKind]func(t *testing.T) apiextensionsv1.JSONSchemaProps{
	"Deployment": func(*testing.T) apiextensionsv1.JSONSchemaProps {
		return object(schemaOf(reflect.TypeFor[appsv1.DeploymentSpec]()))
	},
	"StatefulSet": func(*testing.T) apiextensionsv1.JSONSchemaProps {
		return object(schemaOf(reflect.TypeFor[appsv1.StatefulSetSpec]()))
	},
	"Cluster":       cloudNativePG("postgresql.cnpg.io_clusters.yaml"),
	"Pooler":        cloudNativePG("postgresql.cnpg.io_poolers.yaml"),
	"Kafka":         strimzi("kafka.yaml"),
	"KafkaNodePool": strimzi("kafkanodepool.yaml"),
}

func object(spec apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec}}
}

func cloudNativePG(file string) func(t *testing.T) apiextensionsv1.JSONSchemaProps {
	return func(t *testing.T) apiextensionsv1.JSONSchemaProps {
		t.Helper()
		return schemaIn(t, filepath.Join(crds.CloudNativePG(t), file))
	}
}

func strimzi(file string) func(t *testing.T) apiextensionsv1.JSONSchemaProps {
	return func(t *testing.T) apiextensionsv1.JSONSchemaProps {
		t.Helper()
		return schemaIn(t, filepath.Join(crds.Strimzi(t), "strimzi-1.2.0", file))
	}
}

func schemaIn(t *testing.T, path string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	text, err := os.ReadFile(path)
	expect.NoError(t, err)
	var crd apiextensionsv1.CustomResourceDefinition
	expect.NoError(t, yaml.Unmarshal(text, &crd))
	versions := crd.Spec.Versions
	return object(versions[len(versions)-1].Schema.OpenAPIV3Schema.Properties["spec"])
}

// schemaOf returns the part of a Go type's schema that names require.
func schemaOf(declared reflect.Type) apiextensionsv1.JSONSchemaProps {
	switch declared.Kind() {
	case reflect.Pointer:
		return schemaOf(declared.Elem())
	case reflect.Slice:
		items := schemaOf(declared.Elem())
		return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}
	case reflect.String:
		return apiextensionsv1.JSONSchemaProps{Type: "string"}
	case reflect.Struct:
		schema := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
		for i := range declared.NumField() {
			addProperty(schema.Properties, declared.Field(i))
		}
		return schema
	default:
		return apiextensionsv1.JSONSchemaProps{}
	}
}

func addProperty(properties map[string]apiextensionsv1.JSONSchemaProps, declared reflect.StructField) {
	name, options, _ := strings.Cut(declared.Tag.Get("json"), ",")
	if !declared.IsExported() || name == "-" {
		return
	}
	if name == "" && strings.Contains(options, "inline") {
		for key, value := range schemaOf(declared.Type).Properties {
			properties[key] = value
		}
		return
	}
	properties[name] = schemaOf(declared.Type)
}
