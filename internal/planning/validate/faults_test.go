// SPDX-License-Identifier: Apache-2.0

package validate_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/planning/validate"
)

// lostModule is a valid scenario with a fault. Tests change a line.
const lostModule = `
loads: [{name: cico, duration: 10m, checkInCheckOut: {users: 8}}]
faults:
- name: lost
  after: 5m
  within: 1m
  observe: 3m
  kill: {module: gateway}
`

const resourceFault = "resource: {manifest: {apiVersion: chaos-mesh.org/v1alpha1, kind: NetworkChaos, spec: {}}, begun: {condition: AllInjected}}"

func TestFaultsAreValidated(t *testing.T) {
	const kill = "kill: {module: gateway}"
	for name, tc := range map[string]struct{ line, by, account, want string }{
		"a module":                {"kill", "kill", "", ""},
		"two of one pod":          {kill, "kill: {module: gateway, pods: 2}", "", `module "gateway" has 1 replica: lower pods`},
		"unknown module":          {kill, "kill: {module: mod-other}", "", `the system has no module "mod-other"`},
		"an existing workload":    {kill, "kill: {module: mod-borrowed}", "", "is an existing workload, whose pods PerfLab does not delete"},
		"the primary":             {kill, "kill: {postgres: Primary}", "", ""},
		"two primaries":           {kill, "kill: {postgres: Primary, pods: 2}", "", "PostgreSQL has one primary"},
		"no replica":              {kill, "kill: {postgres: Replica}", "", "PostgreSQL has 0 replicas: raise postgres.instances in every arm"},
		"nothing to promote":      {kill, "switchover: {postgres: {}}", "", "PostgreSQL has 0 replicas: raise postgres.instances in every arm"},
		"the controller":          {kill, "kill: {kafka: Controller}", "", ""},
		"two controllers":         {kill, "kill: {kafka: Controller, pods: 2}", "", "Kafka has one active controller"},
		"more brokers":            {kill, "kill: {kafka: Broker, pods: 9}", "", "lower pods, or raise kafka.brokers.replicas in every arm"},
		"parts of seconds":        {kill, "kill: {module: gateway, gracePeriod: 500ms}", "", "write whole seconds"},
		"after the end":           {"after: 5m", "after: 7m", "", `the observation may end 1m after load "cico" ends`},
		"during the warm-up":      {"after: 5m", "after: 65s", "", `which begins after its warm-up: write 1m10s or more`},
		"hardly observed":         {"observe: 3m", "observe: 2s", "", "replacing pods takes seconds: write 5s or more"},
		"of a summary":            {"{name: cico, duration: 10m, checkInCheckOut: {users: 8}}", "{name: s, script: {configMap: {name: c, key: k}, results: Summary}}", "", "set script.results to Histograms"},
		"one during another":      {"- name: lost", "- {name: first, after: 4m, observe: 2m, kill: {postgres: Primary}}\n- name: lost", "", `fault "lost" may start while "first" is observed`},
		"the later one first":     {"- name: lost", "- {name: next, after: 8m, observe: 2m, kill: {postgres: Primary}}\n- name: lost", "", `fault "next" may start while "lost" is observed`},
		"one after another":       {"- name: lost", "- {name: first, after: 2m, observe: 3m, kill: {postgres: Primary}}\n- name: lost", "", ""},
		"a resource":              {kill, resourceFault, "author", ""},
		"a resource of no one":    {kill, resourceFault, "", "set spec.serviceAccountName"},
		"a resource too long":     {kill, strings.Replace(resourceFault, "begun:", "duration: 4m, begun:", 1), "author", "the fault ends after its observation"},
		"a kind of ours":          {kill, strings.NewReplacer("chaos-mesh.org/v1alpha1", "perflab.dev/v1alpha1", "NetworkChaos", "PerfRun").Replace(resourceFault), "author", "API group perflab.dev is reserved for the operator"},
		"a lease":                 {kill, strings.Replace(resourceFault, "chaos-mesh.org/v1alpha1", "coordination.k8s.io/v1", 1), "author", "API group coordination.k8s.io is reserved for the operator"},
		"a resource with a name":  {kill, strings.Replace(resourceFault, "spec: {}", "metadata: {name: a}, spec: {}", 1), "author", "PerfLab sets metadata.name: remove it"},
		"a resource without kind": {kill, strings.Replace(resourceFault, "kind: NetworkChaos, ", "", 1), "author", "write apiVersion and kind"},
	} {
		t.Run(name, func(t *testing.T) {
			made := withFaults(t, strings.Replace(lostModule, tc.line, tc.by, 1))
			made.Spec.ServiceAccountName = tc.account
			expectErrors(t, made, tc.want)
		})
	}
}

// In scenarios with faults, and in objectives of errors, groups of a script are reported: they never
// fail.
func TestGroupsNeverFail(t *testing.T) {
	const script = "script: {configMap: {name: c, key: k}, arguments: [--duration, 10m]"
	withObjective := func(metric string) string {
		return "\ncapacity: {min: 1, max: 9, step: 2m, objectives: [{metric: " + metric + ", max: 1%}]}\n"
	}
	withFault := strings.TrimPrefix(lostModule[strings.Index(lostModule, "\nfaults:"):], "\n")
	for name, tc := range map[string]struct{ transactions, rest, want string }{
		"a fault":                {"", withFault, "failed transactions count as successful after a fault"},
		"a fault, by group":      {", transactions: {by: Group}", withFault, "failed transactions count as successful after a fault"},
		"a fault, by trend":      {", transactions: {by: Trend}", withFault, ""},
		"a fault, by tag":        {", transactions: {by: Tag, tag: name}", withFault, ""},
		"errors":                 {"", withObjective("s/Search/errors"), "objective s/Search/errors is always 0"},
		"errors by trend":        {", transactions: {by: Trend}", withObjective("s/Search/errors"), ""},
		"response times":         {"", withObjective("s/Search/p95"), ""},
		"errors of another load": {", transactions: {by: Trend}", withObjective("other/Search/errors"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings := validate.Experiment(withFaults(t, "loads: [{name: s, "+script+tc.transactions+"}}]\n"+tc.rest), validate.Known{})
			text := strings.Join(warnings.Sentences(), "\n")
			if strings.Contains(text, "whether a group failed") != (tc.want != "") || !strings.Contains(text, tc.want) {
				t.Errorf("warnings %q, want %q", text, tc.want)
			}
		})
	}
}

func TestMetricsOfFaults(t *testing.T) {
	for name, want := range map[string]string{
		"cico/lostTime@fault-lost":                "",
		"cico/recoveryTime@fault-lost":            "",
		"cico/Check-In/p95@fault-lost":            "",
		"cico/Check-In/p95":                       "",
		"kafka/consumerLag/drainTime@fault-lost":  "",
		"kafka/consumerLag/max@fault-lost":        "",
		"kafka/consumerLag/drainTime@fault-other": `the window is after fault "other", and no scenario has a fault of this name`,
		"module/gateway/cpu/average@fault-lost":   "after a fault, the lag of Kafka's consumers is the only metric of servers: write kafka/consumerLag/drainTime or kafka/consumerLag/max",
		"kafka/consumerLag/drainTime":             `"drainTime" is not a statistic of servers`,
		"cico/lostTime":                           "lostTime is the cost of a fault: write cico/lostTime@fault- and the name of the fault",
		"cico/lostTime@fault-other":               `the window is after fault "other", and no scenario with load "cico" has a fault of this name`,
		"cico/Check-In/p95@fault-other":           `the window is after fault "other"`,
	} {
		made := withFaults(t, lostModule)
		made.Spec.Analysis.Primary = []string{name}
		expectErrors(t, made, want)
	}
}

// The topics are deleted after the run, and created again as declared.
func TestPartitionsOfAFault(t *testing.T) {
	for fault, tc := range map[string]struct {
		edit func(*v1alpha1.Kafka)
		want string
	}{
		"{group: data-import, count: 4}": {nil, ""},
		"{group: data-import, count: 2}": {nil, `topic group "data-import" has 2 partitions in an arm: write more`},
		"{group: data-export, count: 4}": {nil, "no such topic group in an arm: name one of data-import"},
		"{group: data-import, count: 5}": {func(k *v1alpha1.Kafka) { k.Config = map[string]string{"delete.topic.enable": "false"} }, "remove delete.topic.enable from kafka.config"},
		"{group: data-import, count: 6}": {func(k *v1alpha1.Kafka) { k.External = &v1alpha1.ExternalKafka{} }, "the system has no Kafka that PerfLab builds in every arm"},
	} {
		made := withFaults(t, strings.Replace(lostModule, "kill: {module: gateway}", "partitions: "+fault, 1))
		made.Spec.System.Kafka.Topics = []v1alpha1.TopicGroup{{Group: "data-import", Names: []string{"imports"}, Partitions: 2, Replicas: 1}}
		if tc.edit == nil {
			expectErrors(t, made, tc.want)
			continue
		}
		tc.edit(made.Spec.System.Kafka)
		found, _ := validate.Experiment(made, validate.Known{})
		if text := found.ToAggregate().Error(); !strings.Contains(text, tc.want) {
			t.Errorf("%s: errors %q, want %q", fault, text, tc.want)
		}
	}
}

// The next run restores the declared limit.
func TestMemoryOfARestart(t *testing.T) {
	for memory, want := range map[string]string{
		"300Mi": "",
		"0":     `module "gateway" has a memory limit of 512Mi: write a lower one, above 0`,
		"512Mi": `module "gateway" has a memory limit of 512Mi: write a lower one, above 0`,
	} {
		made := withFaults(t, strings.Replace(lostModule, "kill: {module: gateway}", "restart: {module: gateway, memory: "+memory+"}", 1))
		expectErrors(t, made, `module "gateway" has no memory limit that could be lowered: set its resources.limits.memory in every arm`)
		gateway := slices.IndexFunc(made.Spec.System.Modules, func(module v1alpha1.Module) bool { return module.Name == "gateway" })
		made.Spec.System.Modules[gateway].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")}
		expectErrors(t, made, want)
	}
}

// A broker without a volume loses its topics with its pod, which would make every run invalid.
func TestTheOnlyBrokerNeedsAVolume(t *testing.T) {
	for _, fault := range []string{"kill: {kafka: Broker}", "restart: {kafka: {}}", "kill: {module: gateway, wholeNode: true}"} {
		made := withFaults(t, strings.Replace(lostModule, "kill: {module: gateway}", fault, 1))
		made.Spec.System.Kafka.Brokers = v1alpha1.KafkaNodes{Replicas: 1}
		for i := range made.Spec.System.Kafka.Topics {
			made.Spec.System.Kafka.Topics[i].Replicas = 1
		}
		expectErrors(t, made, "Kafka has one broker without storage, whose topics are lost with its pod: set kafka.brokers.storage")
		made.Spec.System.Kafka.Brokers.Storage = &v1alpha1.Storage{Size: resource.MustParse("1Gi")}
		expectErrors(t, made, "")
	}
}

// withFaults is an experiment of one scenario, with a warm-up of a minute, over a system with one
// instance of PostgreSQL and an existing workload.
func withFaults(t *testing.T, scenario string) *v1alpha1.PerfExperiment {
	t.Helper()
	made := experiment()
	made.Spec.Arms[1].Set = &v1alpha1.SystemSet{Postgres: &v1alpha1.PostgresSet{Parameters: map[string]string{"random_page_cost": "1.1"}}}
	made.Spec.Scenarios[0] = v1alpha1.Scenario{}
	if err := yaml.UnmarshalStrict([]byte(scenario), &made.Spec.Scenarios[0]); err != nil {
		t.Fatal(err)
	}
	made.Spec.Scenarios[0].Name = "faults"
	made.Spec.Measurement.WarmUp = &metav1.Duration{Duration: time.Minute}
	made.Spec.System.Target.CredentialsSecret.Name = "login"
	made.Spec.System.Postgres.Instances, made.Spec.System.Postgres.ReadWriteSplit = 1, nil
	made.Spec.System.Modules = append(made.Spec.System.Modules, v1alpha1.Module{Name: "mod-borrowed", WorkloadRef: &v1alpha1.WorkloadRef{Name: "borrowed"}})
	return made
}

func expectErrors(t *testing.T, made *v1alpha1.PerfExperiment, want string) {
	t.Helper()
	found, _ := validate.Experiment(made, validate.Known{})
	text := ""
	if err := found.ToAggregate(); err != nil {
		text = err.Error()
	}
	if (text == "") != (want == "") || !strings.Contains(text, want) {
		t.Errorf("errors %q, want %q", text, want)
	}
}
