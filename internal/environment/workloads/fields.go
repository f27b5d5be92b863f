// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// The paths of managed fields go through objects (f:spec), through list items known by some
// of their fields (k:{"name":"JAVA_OPTIONS"}) and, for sets of values, to the values. The
// functions below follow them without a schema, so that they work on unknown fields. We
// never change sets of values.

// lookup finds the value at a path.
func lookup(value any, path fieldpath.Path) (any, bool) {
	for _, element := range path {
		inner, found := child(value, element)
		if !found {
			return nil, false
		}
		value = inner
	}
	return value, true
}

func child(value any, element fieldpath.PathElement) (any, bool) {
	switch {
	case element.FieldName != nil:
		fields, _ := value.(map[string]any)
		inner, found := fields[*element.FieldName]
		return inner, found
	case element.Key != nil:
		items, _ := value.([]any)
		if at := slices.IndexFunc(items, keyed(element)); at >= 0 {
			return items[at], true
		}
	}
	return nil, false
}

// keyed returns a predicate for the list item of a path element.
func keyed(element fieldpath.PathElement) func(any) bool {
	return func(item any) bool {
		fields, isMap := item.(map[string]any)
		if !isMap {
			return false
		}
		for _, key := range *element.Key {
			if !reflect.DeepEqual(fields[key.Name], key.Value.Unstructured()) {
				return false
			}
		}
		return true
	}
}

// setField sets a value at a path, creates missing objects and list items on the way, and
// returns the edited container.
func setField(container any, path fieldpath.Path, value any) any {
	if len(path) == 0 {
		return runtime.DeepCopyJSONValue(value)
	}
	element, rest := path[0], path[1:]
	switch {
	case element.FieldName != nil:
		fields, isMap := container.(map[string]any)
		if !isMap {
			fields = map[string]any{}
		}
		fields[*element.FieldName] = setField(fields[*element.FieldName], rest, value)
		return fields
	case element.Key != nil:
		items, _ := container.([]any)
		at := slices.IndexFunc(items, keyed(element))
		if at < 0 {
			items = append(items, newItem(element))
			at = len(items) - 1
		}
		items[at] = setField(items[at], rest, value)
		return items
	default:
		return container
	}
}

func newItem(element fieldpath.PathElement) map[string]any {
	item := map[string]any{}
	for _, key := range *element.Key {
		item[key.Name] = key.Value.Unstructured()
	}
	return item
}

// remove deletes the value at a path, and the objects and list items on the way that become
// empty and did not exist before. It returns the edited container; was is the original
// container.
func remove(container, was any, path fieldpath.Path) any {
	element, rest := path[0], path[1:]
	inner, found := child(container, element)
	if !found {
		return container
	}
	wasInner, wasThere := child(was, element)
	if len(rest) > 0 {
		inner = remove(inner, wasInner, rest)
		if wasThere || !isBare(inner, element) {
			return setField(container, path[:1], inner)
		}
	}
	return without(container, element)
}

// isBare reports whether a list item has only its key fields left.
func isBare(value any, element fieldpath.PathElement) bool {
	switch v := value.(type) {
	case map[string]any:
		if element.Key == nil {
			return len(v) == 0
		}
		return len(v) == len(*element.Key) && keyed(element)(v)
	case []any:
		return len(v) == 0
	default:
		return value == nil
	}
}

func without(container any, element fieldpath.PathElement) any {
	switch c := container.(type) {
	case map[string]any:
		delete(c, *element.FieldName)
		return c
	case []any:
		return slices.DeleteFunc(c, keyed(element))
	default:
		return container
	}
}

// isKey reports whether a path leads to a key field of its list item.
func isKey(path fieldpath.Path) bool {
	if len(path) < 2 {
		return false
	}
	last, item := path[len(path)-1], path[len(path)-2]
	return last.FieldName != nil && item.Key != nil &&
		slices.ContainsFunc(newKeys(item), func(name string) bool { return name == *last.FieldName })
}

func newKeys(item fieldpath.PathElement) []string {
	names := make([]string, 0, len(*item.Key))
	for _, key := range *item.Key {
		names = append(names, key.Name)
	}
	return names
}

// undo restores the original values of these fields and leaves all others unchanged. It
// edits the object.
func undo(object, was any, fields *fieldpath.Set) {
	var keys []fieldpath.Path
	for path := range fields.Leaves().All() {
		path = path.Copy()
		before, wasThere := lookup(was, path)
		switch {
		case isKey(path):
			keys = append(keys, path)
		case wasThere:
			setField(object, path, before)
		default:
			remove(object, was, path)
		}
	}
	// Delete items that have only their key left.
	for _, path := range keys {
		item := path[:len(path)-1]
		value, found := lookup(object, item)
		if _, wasThere := lookup(was, item); found && !wasThere && isBare(value, item[len(item)-1]) {
			remove(object, was, item)
		}
	}
	reorder(object, was, fields)
}

// reorder restores the original order of the lists that contain these fields. New items
// stay behind their predecessor.
func reorder(object, was any, fields *fieldpath.Set) {
	done := map[string]bool{}
	for path := range fields.All() {
		for i, element := range path {
			list := path[:i].Copy()
			if element.Key == nil || done[list.String()] {
				continue
			}
			done[list.String()] = true
			now, isThere := lookup(object, list)
			before, wasThere := lookup(was, list)
			if !isThere || !wasThere {
				continue
			}
			setField(object, list, ordered(now.([]any), before.([]any), element))
		}
	}
}

func ordered(now, before []any, element fieldpath.PathElement) []any {
	type ranked struct {
		item any
		rank int
	}
	items := make([]ranked, 0, len(now))
	rank := -1
	for _, item := range now {
		if at := slices.IndexFunc(before, sameKey(item, newKeys(element))); at >= 0 {
			rank = at
		}
		items = append(items, ranked{item, rank})
	}
	slices.SortStableFunc(items, func(a, b ranked) int { return a.rank - b.rank })
	result := make([]any, 0, len(items))
	for _, item := range items {
		result = append(result, item.item)
	}
	return result
}

func sameKey(item any, names []string) func(any) bool {
	return func(other any) bool {
		a, _ := item.(map[string]any)
		b, _ := other.(map[string]any)
		return a != nil && b != nil && !slices.ContainsFunc(names, func(name string) bool {
			return !reflect.DeepEqual(a[name], b[name])
		})
	}
}
