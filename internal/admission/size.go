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

// bounded rejects a spec that is too large before it is decoded: a megabyte of text takes
// fifty when decoded. This includes imported experiments. Stored objects may still be
// labelled and deleted.
type bounded struct{ admission.Handler }

// bound wraps a webhook.
func bound(hook *admission.Webhook) *admission.Webhook {
	hook.Handler = bounded{hook.Handler}
	return hook
}

// Handle checks the size, and calls the wrapped handler.
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

// rawSpec returns the JSON of an object's spec; nil if there is none.
func rawSpec(object []byte) []byte {
	var fields struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(object, &fields); err != nil {
		// Decoding reports the error.
		return nil
	}
	return fields.Spec
}
