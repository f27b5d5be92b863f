// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/rules"
)

// server calls the webhook as config configures it. The webhook uses the rights that config
// grants the operator.
var server = &apiserver.Server{
	Paths:    []string{"config/crd"},
	Webhooks: []string{"config/webhook/configuration.yaml"},
	Answers: func(server webhook.Server, config *rest.Config) error {
		operator, err := operatorOf(config)
		if err != nil {
			return fmt.Errorf("making the operator's client: %w", err)
		}
		admission.Register(server, apiserver.Scheme(), operator, admission.Rights{Author: admission.EnforceRights, Reviewer: operator, Account: defaultAccount})
		return nil
	},
}

// operatorOf returns a client with the rights that config grants the operator.
func operatorOf(config *rest.Config) (client.Client, error) {
	admin, err := client.New(config, client.Options{Scheme: apiserver.Scheme()})
	if err != nil {
		return nil, err
	}
	for _, file := range []string{"role.yaml", "role_binding.yaml"} {
		text, err := os.ReadFile(apiserver.Root("config", "rbac", file))
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &object.Object); err != nil {
			return nil, err
		}
		if err := admin.Create(context.Background(), object); err != nil {
			return nil, err
		}
	}
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:perflab-system:perflab-operator"}
	return client.New(config, client.Options{Scheme: apiserver.Scheme()})
}

func TestMain(m *testing.M) { apiserver.Main(m) }

// warnings are the warnings that the API server has sent to a client.
type warnings struct {
	mutex sync.Mutex
	told  []string
}

// HandleWarningHeader keeps a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.told = append(w.told, text)
}

// user returns a client that validates fields as kubectl does, and its warnings.
func user(t *testing.T) (client.Client, *warnings) {
	t.Helper()
	config, told := rest.CopyConfig(server.Config(t)), &warnings{}
	config.WarningHandler = told
	return client.WithFieldValidation(apiserver.Client(t, config), "Strict"), told
}

type change struct{ path, value string }

// rule is a change of an object, and the expected response of the API server.
type rule struct {
	changes []change
	// place and sentence are the expected path and message; empty: it is accepted.
	place, sentence string
	// warning is the expected warning of an accepted object.
	warning string
}

func accept(changes ...change) rule { return rule{changes: changes} }

func warn(sentence string, changes ...change) rule { return rule{changes: changes, warning: sentence} }

func refuse(place, sentence string, changes ...change) rule {
	return rule{changes: changes, place: place, sentence: sentence}
}

func apply(t *testing.T, object *unstructured.Unstructured, changes []change) {
	t.Helper()
	for _, change := range changes {
		rules.Set(t, object, change.path, change.value)
	}
}

// judge applies each change alone to an object, and checks that the response has no
// more than is expected.
func judge(t *testing.T, text string, cases map[string]rule) {
	t.Helper()
	server.Config(t)
	for name, rule := range cases {
		t.Run(name, func(t *testing.T) {
			object := rules.Object(t, text)
			object.SetNamespace("default")
			apply(t, object, rule.changes)
			c, told := user(t)
			err := c.Create(t.Context(), object, client.DryRunAll)
			rules.Verdict(t, err, rule.place, rule.sentence)
			rule.judgeWarnings(t, err, told.told)
		})
	}
}

// beginsWithAPath matches messages that start with a path, which are hard to read.
var beginsWithAPath = regexp.MustCompile(`^[^ ]*\w\.\w`)

func (r rule) judgeWarnings(t *testing.T, err error, told []string) {
	t.Helper()
	all := strings.Join(told, "\n")
	if slices.ContainsFunc(told, beginsWithAPath.MatchString) {
		t.Errorf("a warning begins with a path: %s", all)
	}
	switch {
	case err != nil:
	case r.warning == "" && len(told) > 0:
		t.Errorf("there was a warning: %s", all)
	case !strings.Contains(all, r.warning):
		t.Errorf("was not warned of\n%s\nbut of\n%s", r.warning, all)
	}
}
