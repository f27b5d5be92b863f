// SPDX-License-Identifier: Apache-2.0

// Package packaging_test renders PerfLab's chart and its kustomizations with
// Helm's and kustomize's own libraries and installs them on a real API server.
package packaging_test

import (
	"bytes"
	"io"
	"maps"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
)

// home is the namespace that config/default installs into.
const home = "perflab-system"

// server has none of PerfLab's kinds: each test installs them.
var server = &apiserver.Server{}

func TestMain(m *testing.M) { apiserver.Main(m) }

// objects are objects by kind, namespace and name.
type objects map[string]*unstructured.Unstructured

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(apiserver.Root("charts", "perflab"))
	expect.NoError(t, err, "loading the chart")
	return loaded
}

type values = map[string]any

// render runs helm template.
func render(t *testing.T, namespace string, given values) (objects, error) {
	t.Helper()
	return renderChart(t, loadChart(t), namespace, given)
}

func renderChart(t *testing.T, of *chart.Chart, namespace string, given values) (objects, error) {
	t.Helper()
	rendered, err := renderRelease(t, of, namespace, given)
	if err != nil {
		return nil, err
	}
	return decode(t, rendered.Manifest), nil
}

// renderRelease renders a release with its notes and hooks.
func renderRelease(t *testing.T, of *chart.Chart, namespace string, given values) (*release.Release, error) {
	t.Helper()
	install := action.NewInstall(&action.Configuration{})
	install.ClientOnly, install.DryRun = true, true
	install.ReleaseName, install.Namespace = "perflab", namespace
	install.KubeVersion = &chartutil.KubeVersion{Version: "v1.34.0", Major: "1", Minor: "34"}
	return install.RunWithContext(t.Context(), of, given)
}

func mustRender(t *testing.T, namespace string, given values) objects {
	t.Helper()
	rendered, err := render(t, namespace, given)
	expect.NoError(t, err, "rendering the chart")
	return rendered
}

// build runs kustomize build.
func build(t *testing.T, dir string) objects {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), apiserver.Root("config", dir))
	expect.NoError(t, err, "building config/%s", dir)
	written, err := built.AsYaml()
	expect.NoError(t, err)
	return decode(t, string(written))
}

func decode(t *testing.T, manifests string) objects {
	t.Helper()
	found := objects{}
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if err == io.EOF { //nolint:errorlint // The decoder returns it unwrapped.
			return found
		}
		expect.NoError(t, err, "reading the manifests")
		if len(object.Object) == 0 {
			continue
		}
		key := strings.Join([]string{object.GetKind(), object.GetNamespace(), object.GetName()}, "/")
		if found[key] != nil {
			t.Errorf("%s is duplicate", key)
		}
		found[key] = object
	}
}

func (o objects) add(others objects) objects {
	maps.Copy(o, others)
	return o
}

func (o objects) get(t *testing.T, kind, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	key := strings.Join([]string{kind, namespace, name}, "/")
	if o[key] == nil {
		t.Fatalf("%s is missing", key)
	}
	return o[key]
}

func contains(text []byte, part string) bool { return bytes.Contains(text, []byte(part)) }
