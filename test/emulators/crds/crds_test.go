// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// TestTestRunIsASubset compares our TestRun with k6-operator's CRD: each field of
// ours must be in theirs, with the same type and default.
func TestTestRunIsASubset(t *testing.T) {
	theirs := realTestRun(t)
	ours := read(t, "k6.io_testruns.yaml")
	if diff := cmp.Diff(theirs.Spec.Names, ours.Spec.Names); diff != "" {
		t.Errorf("names: -theirs +ours\n%s", diff)
	}
	if theirs.Spec.Scope != ours.Spec.Scope {
		t.Errorf("scope %s, theirs is %s", ours.Spec.Scope, theirs.Spec.Scope)
	}
	for _, problem := range missing("", crdSchema(t, ours), crdSchema(t, theirs)) {
		t.Error(problem)
	}
}

// TestMissing checks the comparison.
func TestMissing(t *testing.T) {
	object := func(fields map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: fields}
	}
	text, number := apiextensionsv1.JSONSchemaProps{Type: "string"}, apiextensionsv1.JSONSchemaProps{Type: "integer"}
	list := func(item apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &item}}
	}
	ours := object(map[string]apiextensionsv1.JSONSchemaProps{
		"same": text, "other": text, "mine": text,
		"list": list(object(map[string]apiextensionsv1.JSONSchemaProps{"deep": text})),
	})
	theirs := object(map[string]apiextensionsv1.JSONSchemaProps{
		"same": text, "other": number,
		"list": list(object(map[string]apiextensionsv1.JSONSchemaProps{"deep": number})),
	})
	want := []string{
		`.list[].deep is of type "string", theirs is "integer"`,
		`.mine is not in their schema`,
		`.other is of type "string", theirs is "integer"`,
	}
	if diff := cmp.Diff(want, missing("", ours, theirs)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestGenerate runs the script on given directories.
func TestGenerate(t *testing.T) {
	given, out := t.TempDir(), t.TempDir()
	for _, file := range []string{"kafka.yaml", "kafkanodepool.yaml", "kafkatopic.yaml", "strimzipodset.yaml"} {
		path := filepath.Join(given, "strimzi-1.2.0", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("./generate.sh", out)
	cmd.Env = append(os.Environ(), "PERFLAB_CRDS="+given)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if got, err := os.ReadFile(filepath.Join(out, "strimzi-1.2.0", "kafka.yaml")); string(got) != "kafka.yaml" {
		t.Errorf("kafka.yaml is %q (%v), want the given one", got, err)
	}
	ours, err := os.ReadFile("k6.io_testruns.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(out, "k6-operator-1.6.0", "testruns.yaml")); string(got) != string(ours) {
		t.Errorf("testruns.yaml is not ours although none was given (%v)", err)
	}
}

// missing lists the fields of ours that are not in theirs, in order.
func missing(path string, ours, theirs apiextensionsv1.JSONSchemaProps) []string {
	if ours.Type != theirs.Type || ours.XIntOrString != theirs.XIntOrString {
		return []string{fmt.Sprintf("%s is of type %q, theirs is %q", path, ours.Type, theirs.Type)}
	}
	var problems []string
	if ours.Default != nil && (theirs.Default == nil || string(ours.Default.Raw) != string(theirs.Default.Raw)) {
		problems = append(problems, fmt.Sprintf("%s has a default that theirs has not", path))
	}
	for _, name := range slices.Sorted(maps.Keys(ours.Properties)) {
		field, found := theirs.Properties[name]
		if !found {
			problems = append(problems, fmt.Sprintf("%s.%s is not in their schema", path, name))
			continue
		}
		problems = append(problems, missing(path+"."+name, ours.Properties[name], field)...)
	}
	if ours.Items != nil && theirs.Items != nil {
		problems = append(problems, missing(path+"[]", *ours.Items.Schema, *theirs.Items.Schema)...)
	}
	if ours.AdditionalProperties != nil && ours.AdditionalProperties.Schema != nil &&
		theirs.AdditionalProperties != nil && theirs.AdditionalProperties.Schema != nil {
		problems = append(problems, missing(path+"{}", *ours.AdditionalProperties.Schema, *theirs.AdditionalProperties.Schema)...)
	}
	return problems
}

func realTestRun(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	for _, dir := range []string{os.Getenv("PERFLAB_CRDS"), filepath.Join("..", "..", "..", "..", "shared", "crds")} {
		path := filepath.Join(dir, "k6-operator-1.6.0", "testruns.yaml")
		if _, err := os.Stat(path); dir != "" && err == nil {
			return read(t, path)
		}
	}
	t.Skip("k6-operator's own CRD is not here: PERFLAB_CRDS does not name a directory with k6-operator-1.6.0/testruns.yaml")
	return nil
}

func read(t *testing.T, path string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	return crd
}

func crdSchema(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	for _, version := range crd.Spec.Versions {
		if version.Name == "v1alpha1" {
			return *version.Schema.OpenAPIV3Schema
		}
	}
	t.Fatalf("%s has no version v1alpha1", crd.Name)
	return apiextensionsv1.JSONSchemaProps{}
}
