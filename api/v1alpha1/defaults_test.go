// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// least is the smallest valid experiment.
const least = `
apiVersion: perflab.dev/v1alpha1
kind: PerfExperiment
metadata: {name: least, namespace: default}
spec:
  system:
    target: {module: gateway, credentialsSecret: {name: login}}
    kafka:
      brokers: {replicas: 1}
      topics: [{group: one, names: [a]}]
    postgres: {}
    modules: [{name: gateway, image: "example.org/gateway:1"}]
  arms: [{name: as-is, baseline: true}]
  scenarios:
  - name: import
    loads: [{name: create, dataImport: {records: 1}}]
`

// completed is its spec with the API server's defaults.
const completed = `
system:
  target: {module: gateway, credentialsSecret: {name: login}}
  kafka:
    provider: Strimzi
    mode: KRaft
    brokers: {replicas: 1}
    topics: [{group: one, names: [a], partitions: 1, replicas: 1}]
  postgres: {provider: CloudNativePG, instances: 1, statements: true}
  modules: [{name: gateway, image: "example.org/gateway:1"}]
arms: [{name: as-is, baseline: true}]
scenarios:
- name: import
  loads:
  - name: create
    dataImport: {recordType: Bibliographic, operation: Create, flow: Upload, records: 1, imports: 1}
design: {maxRuns: 200, order: Randomized}
analysis: {marginPercent: 5, confidencePercent: 95}
measurement: {}
reset: RestartModules
validity: {maxErrorPercent: 1, maxRestarts: 0, maxAttempts: 3}
deadlines: {}
cleanup: {policy: Delete}
`

func TestDefaultsAreAsDocumented(t *testing.T) {
	made, want := &unstructured.Unstructured{}, map[string]any{}
	parse(t, least, &made.Object)
	parse(t, completed, &want)
	if err := create(t, made); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	written, err := yaml.Marshal(made.Object["spec"])
	if err != nil {
		t.Fatal(err)
	}
	parse(t, string(written), &got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spec with its defaults (-want +got):\n%s", diff)
	}
}

func parse(t *testing.T, text string, into *map[string]any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("reading YAML: %v", err)
	}
}

// The cost of rules grows with the size of the object. The largest number of modules,
// with the largest number of arms or with arms that set every module, must stay within
// the API server's budget on creation and on update.
func TestRulesAcceptLargeExperiments(t *testing.T) {
	for name, size := range map[string]struct{ arms, modules int }{
		"arms that set every module": {arms: 4, modules: 127},
		"many arms":                  {arms: 15, modules: 30},
	} {
		t.Run(name, func(t *testing.T) {
			c := user(t)
			large := experiment(t, enlarge(size.arms, size.modules)...)
			large.SetNamespace(apiserver.Namespace(t, c))
			if err := c.Create(t.Context(), large); err != nil {
				t.Fatalf("was refused: %v", err)
			}
			apply(t, large, change{"status", `{startTime: "2026-03-01T12:00:00Z"}`})
			if err := c.Status().Update(t.Context(), large); err != nil {
				t.Fatalf("its status was refused: %v", err)
			}
			verdict(t, update(t, large, []change{{"spec.suspend", "true"}}), "", "")
		})
	}
}

func enlarge(arms, modules int) []change {
	set := "{modules: [" + list(modules, "{name: module-%d, replicas: 2}") + "]}"
	return []change{
		{"spec.system.modules", "[" + list(128, "{name: module-%[1]d, image: \"example.org/module:%[1]d\"}") + "]"},
		{"spec.system.target.module", "module-0"},
		{"spec.system.postgres.readWriteSplit.exclude", "[module-1]"},
		{"spec.arms", "[{name: baseline, baseline: true}," + list(arms, "{name: arm-%d, set: "+set+"}") + "]"},
	}
}

func list(count int, format string) string {
	items := make([]string, count)
	for n := range items {
		items[n] = fmt.Sprintf(format, n)
	}
	return strings.Join(items, ",")
}
