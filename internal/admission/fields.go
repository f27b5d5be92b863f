// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"
)

// unknownField extracts the field from the decoder's error.
var unknownField = regexp.MustCompile(`^unknown field "(.*\.affinity\..*)"$`)

// unknownFields finds misspelt fields of an affinity. The CRD does not include its schema,
// which would double its size. The API server finds all others itself.
func unknownFields(ctx context.Context, into any) field.ErrorList {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return nil
	}
	complaints, err := json.UnmarshalStrict(request.Object.Raw, into)
	if err != nil {
		// The object was decoded before, so this does not happen.
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
