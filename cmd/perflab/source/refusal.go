// SPDX-License-Identifier: Apache-2.0

package source

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"perflab.dev/perflab/cmd/perflab/exit"
	"perflab.dev/perflab/internal/kube/schema"
)

// InvalidError lists the faults of an object, one per line. It replaces the API
// server's schema messages by readable ones.
func InvalidError(object string, faults field.ErrorList) error {
	lines := make([]string, 0, len(faults))
	for _, fault := range withoutDuplicates(faults) {
		place := ""
		if fault.Field != "" && fault.Field != noField {
			place = fault.Field + ": "
		}
		lines = append(lines, "\n  "+place+faultMessage(fault))
	}
	return fmt.Errorf("%w: %s:%s", exit.ErrInvalid, object, strings.Join(lines, ""))
}

// withSuggestions adds a suggestion to faults of form, and removes other faults of the
// same field.
func withSuggestions(object *unstructured.Unstructured, faults field.ErrorList) field.ErrorList {
	suggested, kept := map[string]bool{}, field.ErrorList{}
	for _, fault := range withoutDuplicates(faults) {
		if suggested[fault.Field] {
			continue
		}
		if meant, known := schema.Suggest(object, fault.Field); known && (meant.ByRule || isFormFault(fault)) {
			suggested[fault.Field] = true
			fault = field.Invalid(field.NewPath(fault.Field), nil, meant.String())
		}
		kept = append(kept, fault)
	}
	return kept
}

// isFormFault reports whether a value has the wrong type, or the wrong form for a quantity.
func isFormFault(fault *field.Error) bool {
	return fault.Detail == notAQuantity || wrongType.MatchString(fault.Detail) || quantityForm.MatchString(fault.Detail)
}

// noField is the field of a fault without one.
const noField = "<nil>"

// withoutDuplicates removes what the schema reports twice: without a field, or for
// a quantity, which may be a whole number or text.
func withoutDuplicates(faults field.ErrorList) field.ErrorList {
	quantities, kept := map[string]bool{}, field.ErrorList{}
	for _, fault := range faults {
		if parts := eitherType.FindStringSubmatch(fault.Detail); parts != nil {
			quantities[parts[1]] = true
		}
	}
	for _, fault := range faults {
		echo := len(faults) > 1 && fault.Field == noField && (strings.HasPrefix(fault.Detail, "Checked value must be") || eitherType.MatchString(fault.Detail))
		if quantities[fault.Field] {
			again := *fault
			again.Detail = notAQuantity
			fault = &again
		}
		same := func(other *field.Error) bool { return other.Field == fault.Field && other.Detail == fault.Detail }
		if !echo && !slices.ContainsFunc(kept, same) {
			kept = append(kept, fault)
		}
	}
	return kept
}

// notAQuantity replaces the schema's message for a number with a fraction, for
// which the API has no type.
const notAQuantity = "a quantity is a whole number or text: quote a number with a fraction, or use a unit, for example 500m for half a core, or Mi or Gi for bytes"

var (
	wrongType = regexp.MustCompile(`must be of type ([a-z0-9]+)`)
	// eitherType matches the schema's message for fields with two types.
	eitherType = regexp.MustCompile(`^"([^"]+)" must validate at least one schema \(anyOf\)$`)
	// quantityForm matches the schema's pattern of quantities.
	quantityForm = regexp.MustCompile(`in body should match .*\[KMGTPE\]i`)
	bound        = regexp.MustCompile(` in body should (?:be|have) (.*)$`)
)

// typeNames are readable names of schema types.
var typeNames = map[string]string{
	"integer": "a whole number", "int32": "a whole number", "int64": "a whole number", "number": "a number", "float64": "a number with a fraction",
	"string": "text", "boolean": "true or false", "bool": "true or false", "array": "a list", "object": "an object with fields", "null": "empty",
}

func faultMessage(fault *field.Error) string {
	switch fault.Type {
	case field.ErrorTypeRequired:
		return cmp.Or(fault.Detail, "required value without a default: set it")
	case field.ErrorTypeNotSupported:
		return fmt.Sprintf("unsupported value %q: use one of %s", fmt.Sprint(fault.BadValue), strings.TrimPrefix(fault.Detail, "supported values: "))
	case field.ErrorTypeDuplicate:
		return fmt.Sprintf("%s: remove one", fault.ErrorBody())
	case field.ErrorTypeTooLong, field.ErrorTypeTooMany:
		return strings.ToLower(fault.ErrorBody())
	case field.ErrorTypeTypeInvalid, field.ErrorTypeInvalid:
		return invalidMessage(fault)
	default:
		return fault.ErrorBody()
	}
}

func invalidMessage(fault *field.Error) string {
	switch {
	case fault.Detail == notAQuantity:
		return notAQuantity
	case quantityForm.MatchString(fault.Detail):
		return fmt.Sprintf("%q is not a quantity: write a number with a unit, for example 500m for half a core or 512Mi for bytes", fault.BadValue)
	}
	if parts := wrongType.FindStringSubmatch(fault.Detail); parts != nil {
		return wrongTypeMessage(fault, parts[1])
	}
	if parts := bound.FindStringSubmatch(fault.Detail); parts != nil {
		words := strings.NewReplacer("less than or equal to", "at most", "greater than or equal to", "at least", "chars long", "characters long", "at most 1 items", "1 at most")
		return fmt.Sprintf("it is %v, and must be %s", fault.BadValue, words.Replace(parts[1]))
	}
	if fault.BadValue == nil {
		return fault.Detail
	}
	return fault.ErrorBody()
}

// wrongTypeMessage names the actual and the expected type.
func wrongTypeMessage(fault *field.Error, want string) string {
	given, known := typeNames[fmt.Sprint(fault.BadValue)]
	if !known {
		given = fmt.Sprintf("%v", fault.BadValue)
	}
	text := fmt.Sprintf("it is %s, and must be %s", given, cmp.Or(typeNames[want], want))
	if want == "string" && (given == typeNames["integer"] || given == typeNames["number"] || given == typeNames["float64"] || given == typeNames["boolean"]) {
		text += `: quote it`
	}
	return text
}
