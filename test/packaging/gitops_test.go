// SPDX-License-Identifier: Apache-2.0

package packaging_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// gitOpsSamples returns the samples of a file in config/gitops.
func gitOpsSamples(t *testing.T, file string) [][]byte {
	t.Helper()
	content, err := os.ReadFile(apiserver.Root("config", "gitops", file))
	expect.NoError(t, err)
	return bytes.Split(content, []byte("\n---\n"))
}

// chartVersion is the version of the chart that the samples install.
const chartVersion = "0.1.0"

// Flux pulls the chart that the release pushes, and the sample's values are values of the
// chart.
func TestFluxSample(t *testing.T) {
	documents := gitOpsSamples(t, "flux.yaml")
	source, release := &sourcev1.OCIRepository{}, &helmv2.HelmRelease{}
	expect.NoError(t, yaml.UnmarshalStrict(documents[0], source), "OCIRepository")
	expect.NoError(t, yaml.UnmarshalStrict(documents[1], release), "HelmRelease")
	expect.Equal(t, []string{sourcev1.GroupVersion.String(), helmv2.GroupVersion.String()}, []string{source.APIVersion, release.APIVersion}, "versions")
	expect.Equal(t, "oci://registry.example/perflab/charts/perflab", source.Spec.URL, "chart")
	expect.Equal(t, "~"+chartVersion, source.Spec.Reference.SemVer, "version")
	// The layer that helm push and perflab's release push write.
	expect.Equal(t, "application/vnd.cncf.helm.chart.content.v1.tar+gzip", source.Spec.LayerSelector.MediaType, "layer")
	reference := release.Spec.ChartRef
	if reference.Kind != "OCIRepository" || reference.Name != source.Name || release.Namespace != source.Namespace || !release.Spec.Test.Enable {
		t.Errorf("the release is %+v", release.Spec)
	}
	rendered := mustRender(t, release.Spec.TargetNamespace, release.GetValues())
	ignored := map[string][]string{}
	for _, rule := range release.Spec.DriftDetection.Ignore {
		ignored[rule.Target.Kind+"/"+rule.Target.Name] = rule.Paths
	}
	checkIgnored(t, rendered, ignored)
}

// checkIgnored checks that drift detection ignores exactly the fields that the operator writes.
func checkIgnored(t *testing.T, rendered objects, ignored map[string][]string) {
	t.Helper()
	webhooks := typed[admissionregistrationv1.ValidatingWebhookConfiguration](t, rendered, "ValidatingWebhookConfiguration", "", "perflab").Webhooks
	want := map[string][]string{"Secret/perflab-webhook": {"/data"}}
	for i := range webhooks {
		want["ValidatingWebhookConfiguration/"] = append(want["ValidatingWebhookConfiguration/"], fmt.Sprintf("/webhooks/%d/clientConfig/caBundle", i))
	}
	expect.Equal(t, want, ignored, "ignored fields")
	rendered.get(t, "Secret", home, "perflab-webhook")
}

// The values of Argo CD's samples are values of the chart; test/argocd checks the rest.
func TestArgoCDSampleValues(t *testing.T) {
	for file, path := range map[string][]string{
		"argocd-application.yaml":    {"spec", "source"},
		"argocd-applicationset.yaml": {"spec", "template", "spec", "source"},
	} {
		sample := map[string]any{}
		expect.NoError(t, yaml.Unmarshal(gitOpsSamples(t, file)[0], &sample))
		source, _, err := unstructured.NestedMap(sample, path...)
		expect.NoError(t, err)
		expect.Equal(t, []any{"registry.example/perflab/charts", "perflab", chartVersion}, []any{source["repoURL"], source["chart"], source["targetRevision"]}, "%s: chart", file)
		given, _, err := unstructured.NestedMap(source, "helm", "valuesObject")
		expect.NoError(t, err)
		if len(mustRender(t, home, given)) == 0 {
			t.Errorf("%s renders nothing", file)
		}
	}
}

// All samples are tested, and install the chart of the source.
func TestGitOpsSamples(t *testing.T) {
	entries, err := os.ReadDir(apiserver.Root("config", "gitops"))
	expect.NoError(t, err)
	names := map[string]bool{}
	for _, entry := range entries {
		names[entry.Name()] = true
	}
	expect.Equal(t, []string{"argocd-application.yaml", "argocd-applicationset.yaml", "flux.yaml"}, slices.Sorted(maps.Keys(names)), "samples")
	if version := loadChart(t).Metadata.Version; !strings.HasPrefix(version, "0.1.") {
		t.Errorf("the chart has version %s, and the samples install %s", version, chartVersion)
	}
}
