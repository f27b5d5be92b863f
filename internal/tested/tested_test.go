// SPDX-License-Identifier: Apache-2.0

package tested

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"perflab.dev/perflab/internal/testing/expect"
)

const root = "../../"

// Each file that installs a component has the version of the matrix.
func TestPinsAgree(t *testing.T) {
	matrix := Versions()
	minor := matrix.Kubernetes.Versions[0][:strings.LastIndex(matrix.Kubernetes.Versions[0], ".")]
	strimzi, k6, postgres, metrics := matrix.Component("strimzi"), matrix.Component("k6-operator"), matrix.Component("cloudnative-pg"), matrix.Component("metrics-server")
	for _, pin := range []struct{ file, pattern, want string }{
		{"hack/cluster/go.mod", `\n\tk8s.io/kubernetes v(\S+)`, matrix.Kubernetes.Versions[0]},
		{"hack/cluster/addons/go.mod", `\tgithub.com/cloudnative-pg/cloudnative-pg v(\S+)`, postgres.Versions[0]},
		{"hack/cluster/addons/go.mod", `\tsigs.k8s.io/metrics-server v(\S+)`, metrics.Versions[0]},
		{"hack/cluster/lib/common.sh", `STRIMZI:-([^}]+)}`, strimzi.Versions[0]},
		{"hack/cluster/lib/provider.sh", `\[\[ \$STRIMZI == (\S+) `, strimzi.Versions[0]},
		{"hack/cluster/lib/provider.sh", `\|\| \$STRIMZI == (\S+) `, strimzi.Versions[1]},
		{"hack/cluster/providers/kind.sh", `K6_OPERATOR_CHART_VERSION=(\S+)`, k6.Chart.Version},
		{"hack/cluster/kind/images.txt", `kindest/node:v([0-9]+\.[0-9]+)\.`, minor},
		{"hack/cluster/kind/images.txt", `ghcr.io/cloudnative-pg/cloudnative-pg:(\S+)`, postgres.Versions[0]},
		{"hack/cluster/kind/images.txt", `quay.io/strimzi/operator:(\S+)`, strimzi.Versions[0]},
		{"hack/cluster/kind/images.txt", `k6-operator:controller-v(\S+)`, k6.Versions[0]},
		{"charts/perflab/Chart.yaml", `kubeVersion: ">=([0-9]+\.[0-9]+)\.`, matrix.Kubernetes.Minimum},
		{"charts/perflab/charts/operators/Chart.yaml", `name: strimzi-kafka-operator\n  version: (\S+)`, strimzi.Chart.Version},
		{"charts/perflab/charts/operators/Chart.yaml", `name: cloudnative-pg\n  version: (\S+)`, postgres.Chart.Version},
		{"charts/perflab/charts/operators/Chart.yaml", `name: k6-operator\n  version: (\S+)`, k6.Chart.Version},
		{"docs/install.md", `needs Kubernetes ([0-9.]+) or later`, matrix.Kubernetes.Minimum},
	} {
		content, err := os.ReadFile(root + pin.file)
		expect.NoError(t, err)
		found := regexp.MustCompile(pin.pattern).FindSubmatch(content)
		if found == nil || string(found[1]) != pin.want {
			t.Errorf("%s has %q, want %s by internal/tested/versions.yaml", pin.file, found, pin.want)
		}
	}
	if !strings.Contains(metrics.Manifest, "/v"+metrics.Versions[0]+"/") {
		t.Errorf("the manifest of metrics-server is %s, want version %s", metrics.Manifest, metrics.Versions[0])
	}
}

// The documentation contains the matrix.
func TestDocumentedMatrix(t *testing.T) {
	content, err := os.ReadFile(root + "docs/install.md")
	expect.NoError(t, err)
	if table := Versions().Table(); !strings.Contains(string(content), table) {
		t.Errorf("docs/install.md lacks the table of tested versions, which is now\n%s", table)
	}
}

func TestImageVersion(t *testing.T) {
	for _, c := range []struct{ component, image, want string }{
		{"strimzi", "quay.io/strimzi/operator:1.2.0", "1.2.0"},
		{"strimzi", "mirror.example.org:5000/strimzi/operator:1.2.0@sha256:0123", "1.2.0"},
		{"strimzi", "quay.io/perflab/operator:1.2.0", ""},
		{"strimzi", "quay.io/strimzi/operator@sha256:0123", ""},
		{"k6-operator", "ghcr.io/grafana/k6-operator:controller-v1.6.0", "1.6.0"},
		{"cloudnative-pg", "localhost/perflab/cloudnative-pg:v1.30.0-52e754f0ed83", "1.30.0"},
		{"metrics-server", "registry.k8s.io/metrics-server/metrics-server:v0.9.0", "0.9.0"},
		{"metrics-server", "my-metrics-server:v0.9.0", ""},
		{"metrics-server", "metrics-server:latest", ""},
	} {
		expect.Equal(t, c.want, Versions().Component(c.component).ImageVersion(c.image), "version of %s", c.image)
	}
}

func TestIncludes(t *testing.T) {
	for given, want := range map[string]bool{"1.2.0": true, "v1.2.7": true, "1.3.0": false, "0.45.0": true, "2.2.0": false, "v1.2.3-gke.100": true, "dev": true} {
		expect.Equal(t, want, Includes([]string{"1.2.0", "0.45.2"}, given), "whether %s is tested", given)
	}
	for given, want := range map[string]bool{"v1.30.0": true, "v1.29.9": false, "v1.31.2-eks-1": true, "v2.0.0": true} {
		expect.Equal(t, want, Kubernetes{Minimum: "1.30"}.Supports(given), "whether Kubernetes %s is supported", given)
	}
}
