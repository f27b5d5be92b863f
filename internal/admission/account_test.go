// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// defaultAccount is the account that the suite's operator impersonates by default.
const defaultAccount = "perflab-author"

// Naming a ServiceAccount grants no rights: the author must be allowed to impersonate it,
// unless it is the default.
func TestNamedAccountNeedsImpersonation(t *testing.T) {
	for kind, c := range map[string]struct {
		place string
		make  func(*testing.T, ...change) *unstructured.Unstructured
	}{
		"experiment": {"spec.serviceAccountName", func(t *testing.T, changes ...change) *unstructured.Unstructured {
			t.Helper()
			made := rules.Object(t, valid)
			apply(t, made, changes)
			return made
		}},
		"schedule": {"spec.template.spec.serviceAccountName", func(t *testing.T, changes ...change) *unstructured.Unstructured {
			t.Helper()
			return nightly(t, append(changes, change{"spec.onImageChange", ""})...)
		}},
	} {
		t.Run(kind, func(t *testing.T) {
			a := writer(t)
			a.grant(t, right{"get", "", "secrets", "login"})
			named := func(account string) *unstructured.Unstructured { return c.make(t, change{c.place, account}) }
			rules.Verdict(t, a.ask(named(defaultAccount)), "", "")
			rules.Verdict(t, a.ask(named("strong")), c.place, a.message(`impersonate ServiceAccount "strong"`))
			a.grant(t, right{"impersonate", "", "serviceaccounts", "other"})
			rules.Verdict(t, a.ask(named("strong")), c.place, a.message(`impersonate ServiceAccount "strong"`))
			a.grant(t, right{"impersonate", "", "serviceaccounts", "strong"})
			rules.Verdict(t, a.ask(named("strong")), "", "")
		})
	}
}

// Naming the default account needs no permission, but pods that run as it do.
func TestDefaultAccountNeedsPodRights(t *testing.T) {
	a, object := writer(t), rules.Object(t, valid)
	a.grant(t, right{"get", "", "secrets", "login"})
	apply(t, object, []change{{"spec.system.patches", inPods("{serviceAccountName: " + defaultAccount + "}")}})
	if err := a.ask(object); err == nil || !strings.Contains(err.Error(), a.message(`impersonate ServiceAccount "`+defaultAccount+`"`)) {
		t.Errorf("the answer is %v", err)
	}
}

// An operator that impersonates no accounts rejects a named one, even without author checks:
// the author would assume that its rights apply.
func TestUnusedAccountIsRejected(t *testing.T) {
	object := rules.Object(t, valid)
	apply(t, object, []change{{"spec.serviceAccountName", defaultAccount}})
	got := answer(t, admission.Rights{Author: admission.IgnoreRights}, object)
	if got.Allowed || !strings.Contains(got.Result.Message, "spec.serviceAccountName: Forbidden: this operator writes with its own permissions") {
		t.Errorf("allowed %v: %+v", got.Allowed, got.Result)
	}
}

// The account can't change before the experiment starts, nor during its deletion: objects
// are deleted as the account that wrote them.
func TestAccountIsImmutable(t *testing.T) {
	const sentence = "spec.serviceAccountName can't be changed"
	c, _ := user(t)
	unnamed := stored(t, false)
	rules.Verdict(t, update(t, unnamed, []change{{"spec.serviceAccountName", "strong"}}), "", sentence)
	named := rules.Object(t, valid)
	apply(t, named, []change{{"spec.serviceAccountName", "weak"}, {"metadata.finalizers", "[perflab.dev/environment]"}})
	named.SetNamespace(unnamed.GetNamespace())
	named.SetName("named")
	expect.NoError(t, c.Create(t.Context(), named))
	expect.NoError(t, c.Delete(t.Context(), named))
	for _, account := range []string{"strong", ""} {
		rules.Verdict(t, update(t, named, []change{{"spec.serviceAccountName", account}}), "", sentence)
	}
	rules.Verdict(t, update(t, named, []change{{"spec.suspend", "true"}}), "", "")
}
