// SPDX-License-Identifier: Apache-2.0

package plan_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/kube/schema"
	"perflab.dev/perflab/internal/planning/plan"
	"perflab.dev/perflab/internal/testing/expect"
)

var record = flag.String("record", "", "keep today's hashes under the name of this version, for those that come later")

// begun is an experiment stored by an earlier version, with the hash in its runs.
type begun struct {
	Hash string         `json:"planHash"`
	Spec map[string]any `json:"spec"`
}

const seed = 7

// An experiment from an earlier version keeps its hash: today's API server reads the stored spec,
// with its defaults, into today's types. One experiment per version has every field of that
// version. So a later field must neither have a default in the schema nor be written if it is
// absent: its default belongs into Go (…OrDefault), and omitempty to its tag.
func TestStartedExperimentsKeepTheirHash(t *testing.T) {
	if *record != "" {
		recordBegun(t)
	}
	files, err := filepath.Glob("testdata/begun-*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no experiments of earlier versions: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		expect.NoError(t, err)
		var experiments map[string]begun
		expect.NoError(t, json.Unmarshal(text, &experiments), "%s", file)
		for name, one := range experiments {
			if got := hashOf(t, read(t, one.Spec)); got != one.Hash {
				t.Errorf("%s: the hash of %q is %s, it began with %s: its next run would say that the spec has changed", file, name, got, one.Hash)
			}
		}
	}
}

// read returns the operator's view of a stored spec.
func read(t *testing.T, stored map[string]any) v1alpha1.PerfExperimentSpec {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": stored}}
	object.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PerfExperiment"))
	// It was validated when it was written.
	schema.Check(t.Context(), object)
	experiment := &v1alpha1.PerfExperiment{}
	expect.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, experiment))
	return experiment.Spec
}

func hashOf(t *testing.T, spec v1alpha1.PerfExperimentSpec) string {
	t.Helper()
	return plan.From(&spec, spec.System, seed).Hash
}

// recordBegun records the samples and an experiment with every field.
func recordBegun(t *testing.T) {
	t.Helper()
	specs := map[string]v1alpha1.PerfExperimentSpec{"everything": everything()}
	files, err := filepath.Glob("../../../config/samples/*.yaml")
	expect.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		expect.NoError(t, err)
		objects, err := schema.Documents(strings.NewReader(string(text)))
		expect.NoError(t, err)
		for _, object := range objects {
			if stored, is := object.Object["spec"].(map[string]any); is && object.GetKind() == "PerfExperiment" {
				specs[filepath.Base(file)] = read(t, stored)
			}
		}
	}
	write(t, filepath.Join("testdata", "begun-"+*record+".json"), specs)
}

func write(t *testing.T, file string, specs map[string]v1alpha1.PerfExperimentSpec) {
	t.Helper()
	experiments := map[string]begun{}
	for name, spec := range specs {
		stored, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&spec)
		expect.NoError(t, err)
		experiments[name] = begun{Hash: hashOf(t, spec), Spec: stored}
	}
	encoded, err := json.Marshal(experiments)
	expect.NoError(t, err)
	expect.NoError(t, os.WriteFile(file, append(encoded, '\n'), 0o600))
}

// everything has each field, and one item in each list.
func everything() v1alpha1.PerfExperimentSpec {
	var spec v1alpha1.PerfExperimentSpec
	fill(reflect.ValueOf(&spec).Elem())
	return spec
}

// known are types whose fields are not filled in.
var known = map[reflect.Type]any{
	reflect.TypeFor[metav1.Duration]():   metav1.Duration{Duration: time.Minute},
	reflect.TypeFor[resource.Quantity](): resource.MustParse("1"),
}

func fill(value reflect.Value) {
	if given, is := known[value.Type()]; is {
		value.Set(reflect.ValueOf(given))
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem())
	case reflect.Struct:
		for i := range value.NumField() {
			fill(value.Field(i))
		}
	case reflect.Slice:
		fillList(value)
	case reflect.Map:
		key, item := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		fill(key)
		fill(item)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(key, item)
	case reflect.String:
		value.SetString("x")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Interface:
		// The bytes next to it hold the value.
	default:
		value.SetInt(1)
	}
}

// fillList adds one item to a list. A list of bytes is JSON.
func fillList(list reflect.Value) {
	if list.Type().Elem().Kind() == reflect.Uint8 {
		list.SetBytes([]byte("{}"))
		return
	}
	list.Set(reflect.MakeSlice(list.Type(), 1, 1))
	fill(list.Index(0))
}
