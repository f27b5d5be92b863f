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

// moment is what was seen of a real operator at one time.
type moment struct {
	When string `json:"when"`
	// Objects have the fields that count, and null for one that is not there.
	Objects []map[string]any `json:"objects"`
	// Lists name all objects of a kind, in the order they were made in.
	Lists []struct {
		metav1.TypeMeta `json:",inline"`
		Names           []string `json:"names"`
	} `json:"lists"`
}

// CheckFacts holds the objects of a namespace against what a file says was seen
// of the real operator at that moment. In the file NAMESPACE stands for theirs.
func CheckFacts(t *testing.T, c client.Client, namespace, file, when string) {
	t.Helper()
	seen := readMoment(t, namespace, file, when)
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
		if diff := cmp.Diff(list.Names, namesOf(t, c, namespace, list.TypeMeta)); diff != "" {
			t.Errorf("when %s: objects of kind %s: -want +got\n%s", when, list.Kind, diff)
		}
	}
}

func readMoment(t *testing.T, namespace, file, when string) moment {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []moment
	if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(string(text), "NAMESPACE", namespace)), &all); err != nil {
		t.Fatalf("reading %s: %v", file, err)
	}
	i := slices.IndexFunc(all, func(m moment) bool { return m.When == when })
	if i < 0 {
		t.Fatalf("%s says nothing of %q", file, when)
	}
	return all[i]
}

// namesOf lists objects nobody has changed since they were made.
func namesOf(t *testing.T, c client.Client, namespace string, kind metav1.TypeMeta) []string {
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

// ofAPIServer tells an Event of the API server itself from those of an operator.
// It tells of an address as lost whenever it hears of the Service first: of one
// in twenty-five where much is made at once.
func ofAPIServer(object unstructured.Unstructured) bool {
	return object.GetKind() == "Event" && object.Object["reportingComponent"] == "ipallocator-repair-controller"
}

// Differences lists where got is not as want says. Fields that want does not
// have may be anything; null stands for a field that is not there.
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
			all = append(all, fmt.Sprintf("%s.%s is %v, want that it is not there", path, name, value))
		case want[name] != nil && !found:
			all = append(all, fmt.Sprintf("%s.%s is not there, want %v", path, name, want[name]))
		case found:
			all = append(all, Differences(path+"."+name, want[name], value)...)
		}
	}
	return all
}
