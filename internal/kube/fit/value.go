// SPDX-License-Identifier: Apache-2.0

package fit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"perflab.dev/perflab/internal/text/prose"
)

type schema = apiextensionsv1.JSONSchemaProps

// value truncates a value to its schema; false if nothing of it fits, so that its parent is
// omitted as well.
func (c *cutter) value(value any, bounds *schema, path string) (any, bool) {
	switch value := value.(type) {
	case nil:
		return nil, bounds.Nullable
	case map[string]any:
		return c.object(value, bounds, path)
	case []any:
		return c.list(value, bounds, path)
	case string:
		return c.text(value, bounds, path)
	case json.Number:
		return value, inRange(value, bounds)
	default:
		return value, true
	}
}

func (c *cutter) object(fields map[string]any, bounds *schema, path string) (any, bool) {
	if bounds.AdditionalProperties != nil && bounds.AdditionalProperties.Schema != nil {
		return c.entries(fields, bounds, path), true
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		property, known := bounds.Properties[name]
		if !known {
			continue
		}
		under := join(path, name)
		fitted, fits := c.value(fields[name], &property, under)
		if fits {
			fields[name] = fitted
			continue
		}
		if fields[name] != nil {
			c.at(under).left++
		}
		delete(fields, name)
	}
	for _, name := range bounds.Required {
		if _, there := fields[name]; !there {
			return nil, false
		}
	}
	return fields, true
}

// entries truncates a map.
func (c *cutter) entries(fields map[string]any, bounds *schema, path string) any {
	kept := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		fitted, fits := c.value(fields[name], bounds.AdditionalProperties.Schema, path+"{}")
		if fits && (bounds.MaxProperties == nil || int64(len(kept)) < *bounds.MaxProperties) {
			kept[name] = fitted
		}
	}
	if left := len(fields) - len(kept); left > 0 {
		c.at(path).left += left
	}
	return kept
}

func (c *cutter) list(items []any, bounds *schema, path string) (any, bool) {
	var kept []any
	seen := map[string]bool{}
	for _, item := range items {
		fitted, fits := item, true
		if bounds.Items != nil && bounds.Items.Schema != nil {
			fitted, fits = c.value(item, bounds.Items.Schema, path+"[]")
		}
		key := keyOf(fitted, bounds)
		if !fits || key != "" && seen[key] || bounds.MaxItems != nil && int64(len(kept)) >= *bounds.MaxItems {
			continue
		}
		seen[key] = true
		kept = append(kept, fitted)
	}
	if left := len(items) - len(kept); left > 0 {
		c.at(path).left += left
	}
	return kept, bounds.MinItems == nil || int64(len(kept)) >= *bounds.MinItems
}

// keyOf returns the unique key of a list item; empty if items may repeat.
func keyOf(item any, bounds *schema) string {
	if bounds.XListType == nil {
		return ""
	}
	switch *bounds.XListType {
	case "set":
		return fmt.Sprintf("%q", item)
	case "map":
		fields, _ := item.(map[string]any)
		var keys []string
		for _, name := range bounds.XListMapKeys {
			keys = append(keys, fmt.Sprintf("%q", fields[name]))
		}
		return strings.Join(keys, "/")
	default:
		return ""
	}
}

// text truncates a text. It omits a too long enum or a text with a pattern, because a part
// of it would be invalid.
func (c *cutter) text(text string, bounds *schema, path string) (any, bool) {
	if bounds.MaxLength != nil && int64(len(text)) > *bounds.MaxLength {
		text = prose.Cut(text, int(*bounds.MaxLength))
		c.at(path).shortened++
	}
	switch {
	case bounds.MinLength != nil && int64(len([]rune(text))) < *bounds.MinLength,
		bounds.Format == "date-time" && !isTime(text),
		len(bounds.Enum) > 0 && !isOneOf(text, bounds.Enum),
		bounds.Pattern != "" && !c.patterns[bounds.Pattern].MatchString(text):
		return nil, false
	}
	return text, true
}

// isTime reports whether a text is a timestamp. Years of more than four digits are not
// valid.
func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339Nano, text)
	return err == nil
}

func isOneOf(text string, choices []apiextensionsv1.JSON) bool {
	return slices.ContainsFunc(choices, func(choice apiextensionsv1.JSON) bool {
		var one string
		return json.Unmarshal(choice.Raw, &one) == nil && one == text
	})
}

func inRange(number json.Number, bounds *schema) bool {
	value, err := number.Float64()
	return err == nil && (bounds.Minimum == nil || value >= *bounds.Minimum) && (bounds.Maximum == nil || value <= *bounds.Maximum)
}
