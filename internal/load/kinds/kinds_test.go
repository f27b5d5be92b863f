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

// everyKind returns a load for each field of the API that defines a kind: those in the rule that
// requires exactly one.
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

// Batches have all terms, and statistics of their own.
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

func TestLevelsAreUsers(t *testing.T) {
	scripts := kind.ConfigMaps{"scripts": {
		"users.js":  "export const options = { scenarios: { s: { executor: 'ramping-vus', stages: JSON.parse(__ENV.PERFLAB_STAGES) } } };\nexport default function () {}",
		"stages.js": "export const options = { stages: JSON.parse(__ENV.PERFLAB_STAGES) };\nexport default function () {}",
		"rate.js":   "export const options = { scenarios: { s: { executor: 'ramping-arrival-rate', preAllocatedVUs: 20, stages: JSON.parse(__ENV.PERFLAB_STAGES) } } };\nexport default function () {}",
		"pick.js":   "export const options = { scenarios: { s: { executor: pick() } } };\nexport default function () {}",
	}}
	script := func(key string) v1alpha1.Load {
		return v1alpha1.Load{Name: "search", Script: &v1alpha1.Script{ConfigMap: &v1alpha1.ConfigMapKey{Name: "scripts", Key: key}}}
	}
	for name, c := range map[string]struct {
		load v1alpha1.Load
		want bool
	}{
		"users":             {v1alpha1.Load{CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}}, true},
		"arrivals":          {v1alpha1.Load{CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8, Arrivals: &v1alpha1.Arrivals{PerMinute: 60}}}, false},
		"records":           {v1alpha1.Load{DataImport: &v1alpha1.DataImport{Records: 100}}, false},
		"users of a script": {script("users.js"), true},
		"stages alone":      {script("stages.js"), true},
		"a script's rate":   {script("rate.js"), false},
		"a computed script": {script("pick.js"), false},
		"an absent script":  {script("absent.js"), false},
	} {
		if got := kinds.ForLoad(c.load).(kind.Stepped).LevelsAreUsers(scripts); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
