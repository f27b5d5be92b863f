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
)

// Form says which fields are digested: by type, each field with the type of what
// is in it. What has no type is taken as it is.
type Form map[string]map[string]string

// Types that a form begins with.
const (
	typeRecord = "record"
	typePlan   = "plan"
	typeAnswer = "answer"
)

// OwnForm are the fields that this version knows, which nobody may change. They are
// looked up once: every pass over an experiment that has ended asks for its answer's
// digest.
func OwnForm() Form { return ownForm() }

var ownForm = sync.OnceValue(func() Form {
	own := Form{}
	own[typeRecord] = own.fieldsOf(reflect.TypeFor[record]())
	own[typePlan] = own.fieldsOf(reflect.TypeFor[plan]())
	own[typeAnswer] = own.fieldsOf(reflect.TypeFor[answer]())
	return own
})

var encodesItself = reflect.TypeFor[json.Marshaler]()

// add notes the fields of a type, and gives its name. Lists are passed through;
// maps, and what encodes itself, are taken as they are.
func (f Form) add(of reflect.Type) string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct || of.Implements(encodesItself) || reflect.PointerTo(of).Implements(encodesItself) {
		return ""
	}
	name := nameOf(of)
	if _, known := f[name]; !known {
		f[name] = map[string]string{}
		maps.Copy(f[name], f.fieldsOf(of))
	}
	return name
}

// nameOf tells a type from others of its name: core/v1.EnvVar.
func nameOf(of reflect.Type) string {
	version, group := path.Base(of.PkgPath()), path.Base(path.Dir(of.PkgPath()))
	return group + "/" + version + "." + of.Name()
}

func (f Form) fieldsOf(of reflect.Type) map[string]string {
	fields := map[string]string{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && field.Anonymous:
			maps.Copy(fields, f.fieldsOf(field.Type))
		default:
			fields[name] = f.add(field.Type)
		}
	}
	return fields
}

// reduced is what a value of a type has of the form's fields, said in one way only.
func (f Form) reduced(value any, as string) any {
	switch value := value.(type) {
	case map[string]any:
		return f.reducedFields(value, as)
	case []any:
		items := make([]any, 0, len(value))
		for _, item := range value {
			items = append(items, f.reduced(item, as))
		}
		return items
	case json.Number:
		return exact(value)
	default:
		return value
	}
}

func (f Form) reducedFields(value map[string]any, as string) map[string]any {
	kept := map[string]any{}
	for name, content := range value {
		within, known := f[as][name]
		if as != "" && !known || isNothing(content) {
			continue
		}
		kept[name] = f.reduced(content, within)
	}
	return kept
}

// isNothing: what is absent, null or a list of nothing is the same to an API
// server or to one of its clients.
func isNothing(value any) bool {
	list, isList := value.([]any)
	return value == nil || isList && len(list) == 0
}

// maxExact is the largest integer that RFC 8785 tells from its neighbours.
const maxExact = 1 << 53

// exact is a number, as a string where RFC 8785 would round it.
func exact(number json.Number) any {
	if whole, err := number.Int64(); err == nil && (whole > maxExact || whole < -maxExact) {
		return number.String()
	}
	return number
}

// unknown is a field of the form that another one has not, which it is told by
// where it is: record.status.phase. Empty: there is none. Names of types may
// differ.
func (f Form) unknown(own Form) string {
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

// same tells whether two forms have the same fields.
func (f Form) same(other Form) bool { return maps.EqualFunc(f, other, maps.Equal) }
