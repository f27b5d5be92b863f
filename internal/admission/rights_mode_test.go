// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// reviewer answers access reviews from its map, and records them.
type reviewer struct {
	mutex sync.Mutex
	asked []authorizationv1.SubjectAccessReviewSpec
	// allowed has the names of objects that may be used.
	allowed map[string]bool
	fails   error
}

// Create answers a review.
func (r *reviewer) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	review := object.(*authorizationv1.LocalSubjectAccessReview)
	r.asked = append(r.asked, review.Spec)
	review.Status.Allowed = r.allowed[review.Spec.ResourceAttributes.Name]
	return r.fails
}

var jane = authenticationv1.UserInfo{
	Username: "jane", UID: "42", Groups: []string{"lab", "system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"scopes": {"a", "b"}},
}

// answer returns the webhook's response to the API server about an object of Jane's.
func answer(t *testing.T, rights admission.Rights, object *unstructured.Unstructured) *admissionv1.AdmissionResponse {
	t.Helper()
	asked := webhook.NewServer(webhook.Options{})
	admission.Register(asked, apiserver.Scheme(), fake.NewClientBuilder().WithScheme(apiserver.Scheme()).Build(), rights)
	object.SetNamespace("lab")
	// The API server sets defaults before it calls the webhook.
	apply(t, object, []change{{"spec.design.blocks", "6"}})
	raw, err := json.Marshal(object)
	expect.NoError(t, err)
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Operation: admissionv1.Create, Namespace: "lab", UserInfo: jane, Object: runtime.RawExtension{Raw: raw},
		},
	}
	question, err := json.Marshal(review)
	expect.NoError(t, err)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/validate-perflab-dev-v1alpha1-"+strings.ToLower(object.GetKind()), bytes.NewReader(question))
	request.Header.Set("Content-Type", "application/json")
	recorded := httptest.NewRecorder()
	asked.WebhookMux().ServeHTTP(recorded, request)
	expect.NoError(t, json.Unmarshal(recorded.Body.Bytes(), &review), "reading %s", recorded.Body)
	return review.Response
}

func TestAuthorRightsModes(t *testing.T) {
	for mode, want := range map[admission.AuthorRights]struct {
		allowed bool
		warning string
		asked   int
	}{
		admission.EnforceRights: {asked: 1},
		"":                      {asked: 1},
		admission.WarnAboutRights: {
			allowed: true, asked: 1,
			warning: `user "jane" may not get Secret "login" in namespace "lab" (spec.system.target.credentialsSecret): PerfLab would refuse this with --author-rights=enforce`,
		},
		admission.IgnoreRights: {allowed: true},
	} {
		t.Run(string(mode), func(t *testing.T) {
			asked := &reviewer{}
			got := answer(t, admission.Rights{Author: mode, Reviewer: asked}, rules.Object(t, valid))
			if got.Allowed != want.allowed || strings.Join(got.Warnings, "\n") != want.warning || len(asked.asked) != want.asked {
				t.Errorf("allowed %v, warned %q, asked %d; want %+v", got.Allowed, got.Warnings, len(asked.asked), want)
			}
		})
	}
}

// The message in the documentation is the one that authors get.
func TestTheDocumentedSentence(t *testing.T) {
	text, err := os.ReadFile(apiserver.Root("docs", "permissions.md"))
	expect.NoError(t, err)
	got := answer(t, admission.Rights{Author: admission.EnforceRights, Reviewer: &reviewer{}}, shared(t))
	if got.Allowed || len(got.Result.Details.Causes) != 1 {
		t.Fatalf("%+v", got.Result)
	}
	cause := got.Result.Details.Causes[0]
	if sentence := cause.Field + ": " + cause.Message; !strings.Contains(string(text), sentence) {
		t.Errorf("docs/permissions.md does not show: %s", sentence)
	}
}

// A review has all attributes of the author: rights depend on groups and scopes.
func TestReviewNamesAuthor(t *testing.T) {
	asked := &reviewer{allowed: map[string]bool{"login": true}}
	if got := answer(t, admission.Rights{Reviewer: asked}, rules.Object(t, valid)); !got.Allowed {
		t.Fatalf("refused: %v", got.Result)
	}
	want := []authorizationv1.SubjectAccessReviewSpec{{
		User: "jane", UID: "42", Groups: jane.Groups, Extra: map[string]authorizationv1.ExtraValue{"scopes": {"a", "b"}},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: "lab", Verb: "get", Resource: "secrets", Name: "login"},
	}}
	expect.Equal(t, want, asked.asked, "asked")
}

// A failed review rejects the experiment, and the message does not blame its author.
func TestFailedReviewRejects(t *testing.T) {
	sentence := `could not check whether user "jane" may get Secret "login" in namespace "lab": away: this is not an error in the experiment; try again`
	rights := admission.Rights{Author: admission.EnforceRights, Reviewer: &reviewer{fails: errors.New("away")}}
	got := answer(t, rights, rules.Object(t, valid))
	if got.Allowed || got.Result.Code != http.StatusServiceUnavailable || !strings.Contains(got.Result.Message, sentence) {
		t.Errorf("%+v, want a refusal with: %s", got.Result, sentence)
	}
	rights.Author = admission.WarnAboutRights
	if got := answer(t, rights, rules.Object(t, valid)); !got.Allowed || !strings.Contains(strings.Join(got.Warnings, "\n"), sentence) {
		t.Errorf("allowed %v, warned %q, want a warning with: %s", got.Allowed, got.Warnings, sentence)
	}
}

func TestQuestionsAreBounded(t *testing.T) {
	for _, c := range []struct {
		variables int
		sentence  string
	}{
		// The target's login adds one.
		{variables: 99},
		{variables: 100, sentence: "the experiment needs 401 rights, but at most 400 can be checked when it is written: split it, or share Secrets between modules"},
	} {
		t.Run(fmt.Sprint(c.variables), func(t *testing.T) {
			object, asked := rules.Object(t, valid), &reviewer{allowed: map[string]bool{"login": true}}
			var modules []string
			for m := range 4 {
				var env []string
				for v := range c.variables {
					name := fmt.Sprintf("s-%d-%d", m, v)
					asked.allowed[name] = true
					env = append(env, fmt.Sprintf("{name: V%d, valueFrom: {secretKeyRef: {name: %s, key: k}}}", v, name))
				}
				modules = append(modules, fmt.Sprintf("{name: m%d, image: 'a:1', env: [%s]}", m, strings.Join(env, ",")))
			}
			apply(t, object, []change{{"spec.system.modules", "[{name: gateway, image: 'a:1'}, {name: circulation, image: 'a:1'}," + strings.Join(modules, ",") + "]"}})
			got := answer(t, admission.Rights{Reviewer: asked}, object)
			if got.Allowed != (c.sentence == "") || !got.Allowed && !strings.Contains(got.Result.Message, c.sentence) {
				t.Errorf("allowed %v, %+v", got.Allowed, got.Result)
			}
			if c.sentence != "" && len(asked.asked) > 0 {
				t.Errorf("asked %d questions before it was refused", len(asked.asked))
			}
		})
	}
}

func TestAuthorRightsFromAFlag(t *testing.T) {
	var parsed admission.AuthorRights
	for _, given := range []string{"enforce", "warn", "ignore"} {
		if err := parsed.Set(given); err != nil || parsed.String() != given {
			t.Errorf("%s became %s, %v", given, parsed, err)
		}
	}
	if err := parsed.Set("off"); err == nil {
		t.Error("off was taken")
	}
}
