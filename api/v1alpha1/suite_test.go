// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/rules"
)

var server = &apiserver.Server{Paths: []string{"config/crd"}}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// user is a client that asks the API server to be strict, as kubectl does.
func user(t *testing.T) client.Client {
	t.Helper()
	c, err := client.New(server.Config(t), client.Options{})
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return client.WithFieldValidation(c, "Strict")
}

// experiment is a fresh copy of the valid one with these changes.
func experiment(t *testing.T, changes ...change) *unstructured.Unstructured {
	t.Helper()
	made := rules.Object(t, rules.Valid)
	made.SetNamespace("default")
	apply(t, made, changes...)
	return made
}

// change sets the field at a path ("spec.arms.1.name") to a YAML value, or
// takes it away where the value is empty.
type change struct{ path, value string }

func apply(t *testing.T, object *unstructured.Unstructured, changes ...change) {
	t.Helper()
	for _, change := range changes {
		rules.Set(t, object, change.path, change.value)
	}
}

// create asks the API server whether it would take the object.
func create(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	return user(t).Create(t.Context(), object, client.DryRunAll)
}

// verdict fails the test unless the answer is what is wanted: accepted where
// the sentence is empty, else refused with the sentence at the place.
func verdict(t *testing.T, answer error, place, sentence string) {
	t.Helper()
	rules.Verdict(t, answer, place, sentence)
}

// update asks the API server whether it would take the changes.
func update(t *testing.T, object *unstructured.Unstructured, changes []change) error {
	t.Helper()
	changed := object.DeepCopy()
	apply(t, changed, changes...)
	return user(t).Update(t.Context(), changed, client.DryRunAll)
}
