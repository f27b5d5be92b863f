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

// user returns a client with strict field validation, as kubectl has.
func user(t *testing.T) client.Client {
	t.Helper()
	c, err := client.New(server.Config(t), client.Options{})
	if err != nil {
		t.Fatalf("making a client: %v", err)
	}
	return client.WithFieldValidation(c, "Strict")
}

// experiment returns a copy of the valid experiment with these changes.
func experiment(t *testing.T, changes ...change) *unstructured.Unstructured {
	t.Helper()
	made := rules.Object(t, rules.Valid)
	made.SetNamespace("default")
	apply(t, made, changes...)
	return made
}

// change sets the field at a path ("spec.arms.1.name") to a YAML value, or
// removes it if the value is empty.
type change struct{ path, value string }

func apply(t *testing.T, object *unstructured.Unstructured, changes ...change) {
	t.Helper()
	for _, change := range changes {
		rules.Set(t, object, change.path, change.value)
	}
}

// create returns the API server's answer to a dry-run creation of the object.
func create(t *testing.T, object *unstructured.Unstructured) error {
	t.Helper()
	return user(t).Create(t.Context(), object, client.DryRunAll)
}

// verdict fails the test unless the request was accepted, if the sentence is empty, or
// refused with the sentence for the place.
func verdict(t *testing.T, answer error, place, sentence string) {
	t.Helper()
	rules.Verdict(t, answer, place, sentence)
}

// update returns the API server's answer to a dry-run update with the changes.
func update(t *testing.T, object *unstructured.Unstructured, changes []change) error {
	t.Helper()
	changed := object.DeepCopy()
	apply(t, changed, changes...)
	return user(t).Update(t.Context(), changed, client.DryRunAll)
}
