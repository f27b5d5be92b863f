// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/await"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/recorded"
)

// guard installs the results policy in a place, and waits until it is in force.
func (p *place) guard(t *testing.T) {
	t.Helper()
	for _, file := range []string{"policy.yaml", "binding.yaml"} {
		text, err := os.ReadFile(apiserver.Root("config", "results-policy", file))
		expect.NoError(t, err)
		object := &unstructured.Unstructured{}
		expect.NoError(t, yaml.Unmarshal(text, &object.Object))
		if object.GetKind() == "ValidatingAdmissionPolicyBinding" {
			only := map[string]any{"kubernetes.io/metadata.name": p.namespace}
			expect.NoError(t, unstructured.SetNestedMap(object.Object, only, "spec", "matchResources", "namespaceSelector", "matchLabels"))
		}
		expect.NoError(t, p.client.Create(t.Context(), object))
	}
	forged := recorded.Experiment(1).Runs[0].DeepCopy()
	forged.Namespace, forged.UID = p.namespace, ""
	await.Until(t.Context(), t, 30*time.Second, "the policy to be asked about runs", func() (bool, string) {
		err := p.client.Create(t.Context(), forged.DeepCopy(), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "PerfLab's operator alone makes PerfRuns"), fmt.Sprint(err)
	})
}

// Importers write runs and results, but can't change existing objects into
// records, or records into measurements.
func TestImportUnderResultsPolicy(t *testing.T) {
	home := measured(t)
	archive := home.other(t)
	archive.guard(t)
	archive.must(t, home.must(t, "", "export", recorded.Name).out, "import", "-f", "-")
	if at, there := home.must(t, "", "report", recorded.Name), archive.must(t, "", "report", recorded.Name); at.result != there.result {
		t.Errorf("the report is another")
	}
	record := archive.experiment(t)
	record.Annotations[v1alpha1.AnnotationImported] = ""
	if err := archive.client.Update(t.Context(), record); err == nil || !strings.Contains(err.Error(), "what is imported is a record") {
		t.Errorf("marking it again: %v", err)
	}
}
