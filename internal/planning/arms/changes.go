// SPDX-License-Identifier: Apache-2.0

package arms

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/text/prose"
	"perflab.dev/perflab/internal/text/redact"
)

// Change is what an arm does to a setting, wherever it does it: one heap for
// ninety modules is one change.
type Change struct {
	// Setting as people read it, with the entries of the list it is in:
	// "modules.jvm.heap (users, inventory)", "env POOL_SIZE (users)".
	Setting string
	// Baseline and Arm are the values, without what may be a secret.
	Baseline, Arm string
}

// Changes tells differences to people, in their order.
func Changes(differences []v1alpha1.Difference) []Change {
	entries := map[Change][]string{}
	var order []Change
	for _, difference := range differences {
		setting, entry := withoutEntry(difference.Setting)
		change := Change{setting, readable(difference.Setting, difference.Baseline), readable(difference.Setting, difference.Arm)}
		if _, seen := entries[change]; !seen {
			order = append(order, change)
		}
		entries[change] = append(entries[change], entry)
	}
	for i, change := range order {
		if names := entries[change]; names[0] != "" {
			order[i].Setting += " (" + prose.Enumerate(names) + ")"
		}
	}
	return order
}

// withoutEntry takes the first [entry] out of a setting's path. A variable is
// called what its module calls it.
func withoutEntry(setting string) (shorter, entry string) {
	before, rest, found := strings.Cut(setting, "[")
	if !found {
		return setting, ""
	}
	entry, after, _ := strings.Cut(rest, "]")
	if variable, found := strings.CutPrefix(after, ".env["); found {
		return "env " + strings.TrimSuffix(variable, "]"), entry
	}
	return before + after, entry
}

// readable is a setting's value as people may read it.
func readable(setting, value string) string {
	if !isSource(value) {
		value = redact.Hide(setting, value)
	}
	return cmp.Or(inWords(value), "not set")
}

// inWords writes a list or an object without the marks of JSON; other values stay.
func inWords(value string) string {
	if !strings.HasPrefix(value, "[") && !strings.HasPrefix(value, "{") {
		return value
	}
	var tree any
	if err := json.Unmarshal([]byte(value), &tree); err != nil {
		return value
	}
	return flat(tree)
}

func flat(tree any) string {
	var parts []string
	switch tree := tree.(type) {
	case []any:
		for _, one := range tree {
			parts = append(parts, flat(one))
		}
		return cmp.Or(strings.Join(parts, ", "), "none")
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			parts = append(parts, key+": "+flat(tree[key]))
		}
		return cmp.Or(strings.Join(parts, "; "), "none")
	}
	return fmt.Sprint(tree)
}
