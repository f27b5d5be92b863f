// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	webhooks "sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// terms returns an affinity with this number of terms of two bytes each.
func terms(count int) string {
	return `{affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [` + strings.Repeat("{},", count) + `{}]}}}`
}

// A small text can take much memory when it is decoded. Imported experiments are decoded
// as well.
func TestSpecSizeIsLimited(t *testing.T) {
	const gateway, sentence = "spec.system.modules.0.placement", "values, and at most 8000 are allowed"
	judge(t, valid, map[string]rule{
		"many values":          refuse("spec", sentence, change{gateway, terms(8_000)}),
		"many values imported": refuse("spec", sentence, change{gateway, terms(8_000)}, change{annotations, imported}),
		"long":                 refuse("spec", "at most 256 KiB are stored", change{"spec.system.patches", `[{kind: Deployment, merge: {metadata: {annotations: {a: "` + strings.Repeat("x", 256<<10) + `"}}}}]`}),
	})
}

// registered keeps the handlers that a webhook server would serve.
type registered struct {
	webhook.Server
	hooks map[string]*webhooks.Webhook
}

func (r registered) Register(path string, hook http.Handler) {
	r.hooks[path] = hook.(*webhooks.Webhook)
}

// Six small objects once crashed the operator.
func TestOversizedSpecIsRejectedUndecoded(t *testing.T) {
	server := registered{hooks: map[string]*webhooks.Webhook{}}
	admission.Register(server, apiserver.Scheme(), nil, admission.Rights{})
	object := rules.Object(t, valid)
	apply(t, object, []change{{"spec.system.modules.0.placement", terms(430_000)}, {annotations, imported}})
	raw, err := json.Marshal(object.Object)
	expect.NoError(t, err)
	if len(server.hooks) != 3 {
		t.Fatalf("%d kinds are judged", len(server.hooks))
	}
	for path, hook := range server.hooks {
		request := webhooks.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: apiruntime.RawExtension{Raw: raw}}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		answer := hook.Handle(t.Context(), request)
		took := time.Since(began)
		runtime.ReadMemStats(&after)
		if answer.Allowed || !strings.Contains(answer.Result.Message, "at most 256 KiB") {
			t.Errorf("%s: the answer is %+v", path, answer)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 8<<20 || took > time.Second {
			t.Errorf("%s: a bomb of %d KiB took %d KiB and %s", path, len(raw)>>10, bytes>>10, took)
		}
		request.Operation, request.OldObject = admissionv1.Update, apiruntime.RawExtension{Raw: raw}
		if answer := hook.Handle(t.Context(), request); !answer.Allowed {
			t.Errorf("%s: one that is stored already can't be labelled: %+v", path, answer)
		}
	}
}
