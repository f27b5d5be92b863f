// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/admission"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// validating is an API server that calls the webhook.
var validating = &apiserver.Server{
	Paths:    []string{"config/crd"},
	Webhooks: []string{"config/webhook/configuration.yaml"},
	Answers: func(server webhook.Server, config *rest.Config) error {
		reader, err := client.New(config, client.Options{Scheme: apiserver.Scheme()})
		admission.Register(server, apiserver.Scheme(), reader, admission.Rights{Author: admission.IgnoreRights})
		return err
	},
}

// helm test runs the check.
func TestCheckInstallation(t *testing.T) {
	checked := checkOptions{namespace: "default", webhook: true, timeout: time.Minute}
	cluster := apiserver.Client(t, validating.Config(t))
	t.Cleanup(func() { expect.NoError(t, validating.Stop()) })
	expect.NoError(t, awaitInstallation(t.Context(), cluster, checked), "with the webhook")
	var left v1alpha1.PerfSystemList
	expect.NoError(t, cluster.List(t.Context(), &left))
	if len(left.Items) > 0 {
		t.Errorf("the check left %v", left.Items)
	}

	unvalidated := apiserver.Client(t, server.Config(t))
	if err := checkInstallation(t.Context(), unvalidated, checked); !errors.Is(err, errAccepted) {
		t.Errorf("without the webhook: %v", err)
	}
	checked.webhook = false
	expect.NoError(t, checkInstallation(t.Context(), unvalidated, checked), "with the webhook disabled")
	checked.namespace, checked.timeout = "absent", time.Millisecond
	if err := awaitInstallation(t.Context(), unvalidated, checked); err == nil || !strings.Contains(err.Error(), `namespaces "absent" not found`) {
		t.Errorf("in a namespace that does not exist: %v", err)
	}
}
