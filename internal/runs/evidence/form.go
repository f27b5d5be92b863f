// SPDX-License-Identifier: Apache-2.0

package evidence

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"

	"perflab.dev/perflab/api/v1alpha1"
)

// Schema lists the digested fields: by type, each field with the type of its content. Content
// without a type is digested unchanged.
type Schema map[string]map[string]string

// Root types of a schema.
const (
	typeRecord = "record"
	typePlan   = "plan"
	typeAnswer = "answer"
)

// OwnSchema has the fields that this version digests. It is immutable and computed once: each
// reconcile of a finished experiment needs the digest of its result.
func OwnSchema() Schema { return ownForm() }

// knownForm has the fields that this version supports: manifests of earlier versions cover
// history and lane.
var knownForm = sync.OnceValue(func() Schema {
	known := Schema{}
	known[typeRecord] = known.typeFields(reflect.TypeFor[runDocument]())
	known[typePlan] = known.typeFields(reflect.TypeFor[planDocument]())
	known[typeAnswer] = known.typeFields(reflect.TypeFor[resultDocument]())
	return known
})

// mutable are the fields of a spec that may change after the first run.
var mutable = []string{"suspend", "cleanup", "history", "retention", "lane", "notes"}

var ownForm = sync.OnceValue(func() Schema {
	own, spec := maps.Clone(knownForm()), typeName(reflect.TypeFor[v1alpha1.PerfExperimentSpec]())
	own[spec] = maps.Clone(own[spec])
	maps.DeleteFunc(own[spec], func(field, _ string) bool { return slices.Contains(mutable, field) })
	return own
})

var encodesItself = reflect.TypeFor[json.Marshaler]()

// add adds the fields of a type and returns its name. Elements of lists are added; maps, and
// types that encode themselves, are opaque.
func (f Schema) add(of reflect.Type) string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.Implements(encodesItself) || reflect.PointerTo(of).Implements(encodesItself) {
		return ""
	}
	name := typeName(of)
	if _, known := f[name]; !known {
		f[name] = map[string]string{}
		maps.Copy(f[name], f.typeFields(of))
	}
	return name
}

// typeName is a unique name of a type: core/v1.EnvVar.
func typeName(of reflect.Type) string {
	version, group := path.Base(of.PkgPath()), path.Base(path.Dir(of.PkgPath()))
	return group + "/" + version + "." + of.Name()
}

func (f Schema) typeFields(of reflect.Type) map[string]string {
	fields := map[string]string{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && field.Anonymous:
			maps.Copy(fields, f.typeFields(field.Type))
		default:
			fields[name] = f.add(field.Type)
		}
	}
	return fields
}

// reduce returns the fields of a value that are in the schema, in a unique form.
func (f Schema) reduce(value any, as string) any {
	switch value := value.(type) {
	case map[string]any:
		return f.reduceFields(value, as)
	case []any:
		items := make([]any, 0, len(value))
		for _, item := range value {
			items = append(items, f.reduce(item, as))
		}
		return items
	case json.Number:
		return exactNumber(value)
	default:
		return value
	}
}

func (f Schema) reduceFields(value map[string]any, as string) map[string]any {
	kept := map[string]any{}
	for name, content := range value {
		within, known := f[as][name]
		if as != "" && !known || isEmpty(content) {
			continue
		}
		kept[name] = f.reduce(content, within)
	}
	return kept
}

// isEmpty reports whether a value is null or an empty list: to API servers and
// their clients, both are the same as an absent value.
func isEmpty(value any) bool {
	list, isList := value.([]any)
	return value == nil || isList && len(list) == 0
}

// maxExact is the largest integer that RFC 8785 represents exactly.
const maxExact = 1 << 53

// exactNumber returns a number, as a string if RFC 8785 would round it.
func exactNumber(number json.Number) any {
	if whole, err := number.Int64(); err == nil && (whole > maxExact || whole < -maxExact) {
		return number.String()
	}
	return number
}

// unknownFields returns the path of a field that another schema does not have, such as
// record.status.phase; empty if there is none. Names of types may differ.
func (f Schema) unknownFields(own Schema) string {
	seen := map[[2]string]bool{}
	var look func(at, as, ownAs string) string
	look = func(at, as, ownAs string) string {
		if as == "" || seen[[2]string{as, ownAs}] {
			return ""
		}
		seen[[2]string{as, ownAs}] = true
		for _, name := range slices.Sorted(maps.Keys(f[as])) {
			within, known := own[ownAs][name]
			if !known {
				return at + "." + name
			}
			if found := look(at+"."+name, f[as][name], within); found != "" {
				return found
			}
		}
		return ""
	}
	for _, root := range []string{typeRecord, typePlan, typeAnswer} {
		if found := look(root, root, root); found != "" {
			return found
		}
	}
	return ""
}

// equal reports whether two schemas have the same fields.
func (f Schema) equal(other Schema) bool { return maps.EqualFunc(f, other, maps.Equal) }
