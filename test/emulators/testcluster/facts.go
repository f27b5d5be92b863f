// SPDX-License-Identifier: Apache-2.0

package testcluster

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// recorded is the state recorded from a real operator at one time.
type recorded struct {
	When string `json:"when"`
	// Objects have the relevant fields. A field that must be absent is null.
	Objects []map[string]any `json:"objects"`
	// Lists name all objects of a kind, in order of creation.
	Lists []struct {
		metav1.TypeMeta `json:",inline"`
		Names           []string `json:"names"`
	} `json:"lists"`
}

// CheckFacts compares the objects of a namespace with a file's recording of the real operator. In
// the file, NAMESPACE is a placeholder for the namespace.
func CheckFacts(t *testing.T, c client.Client, namespace, file, when string) {
	t.Helper()
	seen := readRecorded(t, namespace, file, when)
	for _, facts := range seen.Objects {
		want := unstructured.Unstructured{Object: facts}
		got := &unstructured.Unstructured{}
		got.SetGroupVersionKind(want.GroupVersionKind())
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: want.GetName()}, got); err != nil {
			t.Errorf("when %s: %v", when, err)
			continue
		}
		for _, difference := range Differences("", facts, got.Object) {
			t.Errorf("when %s: %s %s: %s", when, want.GetKind(), want.GetName(), difference)
		}
	}
	for _, list := range seen.Lists {
		if diff := cmp.Diff(list.Names, listNames(t, c, namespace, list.TypeMeta)); diff != "" {
			t.Errorf("when %s: objects of kind %s: -want +got\n%s", when, list.Kind, diff)
		}
	}
}

func readRecorded(t *testing.T, namespace, file, when string) recorded {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(string(text), "NAMESPACE", namespace)), &all); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	i := slices.IndexFunc(all, func(m recorded) bool { return m.When == when })
	if i < 0 {
		t.Fatalf("%s has no entry %q", file, when)
	}
	return all[i]
}

// listNames lists objects in order of creation.
func listNames(t *testing.T, c client.Client, namespace string, kind metav1.TypeMeta) []string {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind+"List"))
	if err := c.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int {
		first, second := a.GetResourceVersion(), b.GetResourceVersion()
		if len(first) != len(second) {
			return len(first) - len(second)
		}
		return strings.Compare(first, second)
	})
	var names []string
	for _, item := range list.Items {
		if !ofAPIServer(item) {
			names = append(names, item.GetName())
		}
	}
	return names
}

// ofAPIServer reports whether an Event is from the API server itself, not from an operator. If
// the API server sees a Service late, it reports the Service's address as lost. This affects
// one in twenty-five Services when many are created at once.
func ofAPIServer(object unstructured.Unstructured) bool {
	return object.GetKind() == "Event" && object.Object["reportingComponent"] == "ipallocator-repair-controller"
}

// Differences lists the differences between got and want. Fields that are not in want can have any
// value; null means an absent field.
func Differences(path string, want, got any) []string {
	switch wanted := want.(type) {
	case map[string]any:
		found, is := got.(map[string]any)
		if !is {
			return []string{fmt.Sprintf("%s is %v, want an object", path, got)}
		}
		return differentFields(path, wanted, found)
	case []any:
		found, is := got.([]any)
		if !is || len(found) != len(wanted) {
			return []string{fmt.Sprintf("%s is %v, want %d elements", path, got, len(wanted))}
		}
		var all []string
		for i := range wanted {
			all = append(all, Differences(fmt.Sprintf("%s[%d]", path, i), wanted[i], found[i])...)
		}
		return all
	}
	if fmt.Sprint(want) != fmt.Sprint(got) {
		return []string{fmt.Sprintf("%s is %v, want %v", path, got, want)}
	}
	return nil
}

func differentFields(path string, want, got map[string]any) []string {
	if len(want) == 0 && !reflect.DeepEqual(want, got) {
		return []string{fmt.Sprintf("%s is %v, want nothing in it", path, got)}
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(want)) {
		value, found := got[name]
		switch {
		case want[name] == nil && found:
			all = append(all, fmt.Sprintf("%s.%s is %v, want none", path, name, value))
		case want[name] != nil && !found:
			all = append(all, fmt.Sprintf("%s.%s is missing, want %v", path, name, want[name]))
		case found:
			all = append(all, Differences(path+"."+name, want[name], value)...)
		}
	}
	return all
}
