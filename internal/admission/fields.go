// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"
)

// unknownField finds the field in the decoder's complaint.
var unknownField = regexp.MustCompile(`^unknown field "(.*\.affinity\..*)"$`)

// unknownFields finds misspelt fields of an affinity. The schema leaves them
// to us, because it would be as large as all the rest; elsewhere the API
// server finds them itself.
func unknownFields(ctx context.Context, into any) field.ErrorList {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil
	}
	complaints, err := json.UnmarshalStrict(request.Object.Raw, into)
	if err != nil {
		// The object has been decoded before, so this can't be.
		return field.ErrorList{field.InternalError(nil, err)}
	}
	var faults field.ErrorList
	for _, complaint := range complaints {
		if found := unknownField.FindStringSubmatch(complaint.Error()); found != nil {
			faults = append(faults, &field.Error{
				Type: field.ErrorTypeForbidden, Field: found[1],
				Detail: "an affinity has no such field: see kubectl explain pod.spec.affinity --recursive",
			})
		}
	}
	return faults
}
