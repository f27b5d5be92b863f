// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// differences returns the paths of the fields of spec, labels and annotations in which two
// versions of an object differ, in order.
func differences(was, is map[string]any) []string {
	var found []string
	compare("", part(was), part(is), false, func(path string) { found = append(found, path) })
	return found
}

// missing returns the fields of an intent that have another value in an object. Fields that
// are not in the intent are ignored.
func missing(intent, object map[string]any) []string {
	var found []string
	compare("", part(intent), part(object), true, func(path string) { found = append(found, path) })
	return found
}

// part returns the fields that users declare: spec, labels and annotations.
func part(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	annotations = maps.Clone(annotations)
	delete(annotations, annotationRevision)
	if annotations == nil {
		annotations = map[string]any{}
	}
	labels, _ := metadata["labels"].(map[string]any)
	if labels == nil {
		labels = map[string]any{}
	}
	return map[string]any{"labels": labels, "annotations": annotations, "spec": object["spec"]}
}

// compare walks two values in parallel. With partial, fields that are missing in the first
// are ignored.
func compare(path string, was, is any, partial bool, report func(string)) {
	switch before := was.(type) {
	case map[string]any:
		after, isMap := is.(map[string]any)
		if !isMap {
			report(path)
			return
		}
		names := slices.Collect(maps.Keys(before))
		if !partial {
			names = append(names, slices.Collect(maps.Keys(after))...)
		}
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			compareField(join(path, name), before, after, name, partial, report)
		}
	case []any:
		after, isList := is.([]any)
		if isList && named(before) && named(after) {
			compareItems(path, before, after, partial, report)
			return
		}
		if !reflect.DeepEqual(was, is) {
			report(path)
		}
	default:
		if !reflect.DeepEqual(was, is) {
			report(path)
		}
	}
}

func compareField(path string, before, after map[string]any, name string, partial bool, report func(string)) {
	was, wasThere := before[name]
	is, isThere := after[name]
	switch {
	case wasThere && !isThere && was == "":
		// An empty text is not stored.
		return
	case wasThere != isThere:
		report(path)
		return
	}
	compare(path, was, is, partial, report)
}

// compareItems compares lists of named items, each item with the one of the same name.
func compareItems(path string, before, after []any, partial bool, report func(string)) {
	byName := func(items []any) map[string]any {
		found := map[string]any{}
		for _, item := range items {
			found[itemName(item)] = item
		}
		return found
	}
	compare(path, byName(before), byName(after), partial, report)
}

// named reports whether every item of a list has a name.
func named(items []any) bool {
	seen := map[string]bool{"": true}
	for _, item := range items {
		name := itemName(item)
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return len(items) > 0
}

// itemName returns an item's key: the name of containers and variables, the topology key of
// constraints.
func itemName(item any) string {
	fields, _ := item.(map[string]any)
	name, _ := fields["name"].(string)
	key, _ := fields["topologyKey"].(string)
	return cmp.Or(name, key)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	for _, c := range name {
		if c == '.' || c == '/' {
			return fmt.Sprintf("%s[%s]", path, name)
		}
	}
	return path + "." + name
}
