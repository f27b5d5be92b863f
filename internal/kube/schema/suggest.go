// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/internal/planning/repair"
)

// Suggestion is a replacement for the value of a field.
type Suggestion struct {
	// Written is the value, Wanted describes the expected type, and Instead is the
	// replacement.
	Written, Wanted, Instead string
	// ByRule means that a rule of the field requires the form, and not its type.
	ByRule bool
}

func (s Suggestion) String() string {
	return fmt.Sprintf("%s is not a %s: write %s", s.Written, s.Wanted, s.Instead)
}

// Suggest returns the probably intended value of a field; false if there is no guess.
func Suggest(object *unstructured.Unstructured, field string) (Suggestion, bool) {
	compiled, found := definitions[strings.ToLower(object.GetKind())]
	if !found {
		return Suggestion{}, false
	}
	known, err := compiled()
	if err != nil {
		return Suggestion{}, false
	}
	value, at, name := find(object.Object, known.structural, field)
	switch value.(type) {
	case string, bool, int64, float64:
	default:
		return Suggestion{}, false
	}
	text, isText := value.(string)
	if !isText {
		text = fmt.Sprint(value)
	}
	made := suggested(at, name, text, isText)
	if made.Written = text; isText {
		made.Written = strconv.Quote(text)
	}
	return made, made.Instead != ""
}

// suggested returns the value that a field's schema accepts instead.
func suggested(at *structural.Structural, name, text string, isText bool) Suggestion {
	switch {
	case isDuration(at):
		return Suggestion{Wanted: "duration", Instead: repair.Duration(text), ByRule: true}
	case at.XIntOrString && name == "cpu":
		return Suggestion{Wanted: "quantity", Instead: repair.Cores(text)}
	case at.XIntOrString:
		return Suggestion{Wanted: "quantity", Instead: repair.Bytes(text)}
	case at.Type == "integer" && strings.HasSuffix(name, "Percent"):
		return Suggestion{Wanted: "whole number", Instead: repair.Percent(text)}
	case at.Type == "integer" && strings.HasSuffix(name, "Seconds"):
		return Suggestion{Wanted: "whole number", Instead: repair.Seconds(text)}
	case at.Type == "integer":
		return Suggestion{Wanted: "whole number", Instead: repair.Whole(text)}
	case at.Type == "number":
		return Suggestion{Wanted: "number", Instead: repair.Number(text)}
	case at.Type == "boolean":
		return Suggestion{Wanted: "boolean", Instead: repair.Bool(text)}
	case at.Type == "string" && isText && strings.HasSuffix(name, "Percentage"):
		return Suggestion{Wanted: "number", Instead: quoted(repair.Number(text)), ByRule: true}
	case at.Type == "string" && !isText:
		return Suggestion{Wanted: "string", Instead: strconv.Quote(text)}
	}
	return Suggestion{}
}

// quoted quotes text, except if it is empty.
func quoted(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(text)
}

// isDuration reports whether a field has the rule of durations.
func isDuration(at *structural.Structural) bool {
	for _, rule := range at.XValidations {
		if strings.Contains(rule.Rule, "(ms|s|m|h)") {
			return true
		}
	}
	return false
}

// step matches an element of a path: a field, or an index or key in brackets.
var step = regexp.MustCompile(`^[.]?([^.\[]+)|^\[([^\]]+)\]`)

// find returns the value at a path, its schema, and the field's name; the schema is nil if
// there is none.
func find(value any, at *structural.Structural, path string) (any, *structural.Structural, string) {
	name := ""
	for path != "" && at != nil {
		parts := step.FindStringSubmatch(path)
		if parts == nil {
			return nil, nil, ""
		}
		path = path[len(parts[0]):]
		name = parts[1] + parts[2]
		value, at = child(value, at, name)
	}
	return value, at, name
}

func child(value any, at *structural.Structural, name string) (any, *structural.Structural) {
	switch value := value.(type) {
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(value) {
			return value[i], at.Items
		}
	case map[string]any:
		if below, is := at.Properties[name]; is {
			return value[name], &below
		}
		if at.AdditionalProperties != nil {
			return value[name], at.AdditionalProperties.Structural
		}
	}
	return nil, nil
}
