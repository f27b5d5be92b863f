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

// Change is a setting that an arm changes, for all list entries with the same change: one
// heap for ninety modules is one change.
type Change struct {
	// Setting in readable form, with the affected list entries: "modules.jvm.heap (users,
	// inventory)", "env POOL_SIZE (users)".
	Setting string
	// Baseline and Arm are the values, without possible secrets.
	Baseline, Arm string
}

// Changes groups differences into changes, in order.
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

// withoutEntry removes the first [entry] from a setting's path. It keeps the name of a
// variable.
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

// readable returns a setting's value for display.
func readable(setting, value string) string {
	if !isSource(value) {
		value = redact.Hide(setting, value)
	}
	return cmp.Or(inWords(value), "not set")
}

// inWords formats a list or an object without JSON syntax; other values stay.
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
