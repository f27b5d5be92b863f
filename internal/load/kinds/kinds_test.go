// SPDX-License-Identifier: Apache-2.0

package kinds_test

import (
	"reflect"
	"strings"
	"testing"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/load/kind"
	"perflab.dev/perflab/internal/load/kinds"
)

// everyKind returns a load for each field of the API that says what a load does: those that
// the rule of exactly one names.
func everyKind() map[string]v1alpha1.Load {
	loads := map[string]v1alpha1.Load{}
	fields := reflect.TypeFor[v1alpha1.Load]()
	for i := range fields.NumField() {
		field := fields.Field(i)
		if field.Type.Kind() != reflect.Pointer || field.Type.Elem().PkgPath() != fields.PkgPath() {
			continue
		}
		load := v1alpha1.Load{Name: "a"}
		reflect.ValueOf(&load).Elem().Field(i).Set(reflect.New(field.Type.Elem()))
		loads[field.Name] = load
	}
	return loads
}

func TestTableListsEveryKind(t *testing.T) {
	unknown := reflect.TypeOf(kinds.ForLoad(v1alpha1.Load{}))
	seen := map[reflect.Type]string{unknown: "no kind"}
	all := everyKind()
	if len(all) < 3 {
		t.Fatalf("the API has the kinds %v", all)
	}
	for name, load := range all {
		found := kinds.ForLoad(load)
		if other, known := seen[reflect.TypeOf(found)]; known {
			t.Errorf("%s is taken for %s", name, other)
		}
		seen[reflect.TypeOf(found)] = name
		if found.Describe() == "" || strings.HasPrefix(found.Describe(), ",") {
			t.Errorf("%s has no words: %q", name, found.Describe())
		}
	}
}

// What is a batch has all the words of one, and statistics of its own.
func TestBatchesHaveTerms(t *testing.T) {
	for name, load := range everyKind() {
		batch, is := kinds.ForLoad(load).(kind.Batch)
		if is != kinds.IsBatch(load) {
			t.Errorf("%s: a batch %t and %t", name, is, kinds.IsBatch(load))
		}
		if !is {
			continue
		}
		for i, words := 0, reflect.ValueOf(batch.Terms()); i < words.NumField(); i++ {
			if words.Field(i).IsZero() {
				t.Errorf("%s has no %s", name, words.Type().Field(i).Name)
			}
		}
	}
}

func TestForLoadOfUnknownKind(t *testing.T) {
	found := kinds.ForLoad(v1alpha1.Load{Name: "a"})
	length, err := found.Length(kind.Assumptions{})
	if found.Describe() != "" || found.Primary() != nil || found.IsFOLIO() || length != (kind.Length{}) || err != nil {
		t.Error("something is known of a load of no kind")
	}
}
