// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"encoding/json"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"perflab.dev/perflab/internal/planning/validate"
)

// bounded refuses a spec that is too large before anything else is done with it: what
// takes a megabyte as text takes fifty when it is decoded. Records of what was measured
// elsewhere are no exception. What is stored already may be labelled and deleted.
type bounded struct{ admission.Handler }

// bound puts a webhook behind it.
func bound(hook *admission.Webhook) *admission.Webhook {
	hook.Handler = bounded{hook.Handler}
	return hook
}

// Handle judges the size, and has the rest judged.
func (b bounded) Handle(ctx context.Context, request admission.Request) admission.Response {
	spec := rawSpec(request.Object.Raw)
	faults := validate.Stored(spec)
	if len(faults) == 0 {
		return b.Handler.Handle(ctx, request)
	}
	if bytes.Equal(spec, rawSpec(request.OldObject.Raw)) {
		return admission.Allowed("")
	}
	kind := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
	refused := apierrors.NewInvalid(kind, request.Name, faults).Status()
	return admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{Result: &refused}}
}

// rawSpec is the text of an object's spec; none where there is none.
func rawSpec(object []byte) []byte {
	var fields struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(object, &fields); err != nil {
		// Who decodes it will say so.
		return nil
	}
	return fields.Spec
}
