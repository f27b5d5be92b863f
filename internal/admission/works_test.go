// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/rules"
)

// One invalid experiment of each kind; internal/planning/validate has them all.
func TestInvalidExperimentsAreRejected(t *testing.T) {
	judge(t, valid, map[string]rule{
		"half a byte":       refuse(aModule+".jvm.heap.max", `the heap of module "circulation" is 512m, which is 0.512 bytes: write 512Mi`, change{module + ".jvm", "{heap: {max: 512m}}"}),
		"two collectors":    refuse(aModule+".jvm.options[1]", "a second garbage collector in addition to -XX:+UseG1GC", change{module + ".jvm", `{options: ["-XX:+UseG1GC", "-XX:+UseZGC"]}`}),
		"topics that meet":  refuse("spec.system.kafka.topics[0]", `topics "a.b" (group "data-import") and "a_b" (group "data-import") collide`, change{"spec.system.kafka.topics.0", "{group: data-import, names: [a.b, a_b]}"}),
		"unknown parameter": refuse("spec.system.postgres.parameters.work_memo", "PostgreSQL has no parameter work_memo: did you mean work_mem?", change{"spec.system.postgres.parameters", "{work_memo: 4MB}"}),
		"hundreds of cores": warn("which is 500 cores: write 500m for millicores", change{module + ".resources", "{requests: {cpu: 500}, limits: {memory: 512Mi}}"}),
	})
}

const twoUsers = "export const options = {vus: 2, duration: '5m'};\nexport default function () {}"

// searching changes the experiment to a script in a ConfigMap, with more runners than
// users.
var searching = []change{
	{"spec.scenarios", "[{name: search, loads: [{name: search, parallelism: 8, script: {configMap: {name: search, key: main.js}}}]}]"},
	{"spec.analysis", "{primary: [search/keyword/p95]}"},
}

func TestScriptsAreReadFromConfigMaps(t *testing.T) {
	c, _ := user(t)
	object := rules.Object(t, valid)
	apply(t, object, searching)
	object.SetNamespace(apiserver.Namespace(t, c))
	rules.Verdict(t, c.Create(t.Context(), object.DeepCopy(), client.DryRunAll), "", "")

	script := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "search", Namespace: object.GetNamespace()}, Data: map[string]string{"main.js": twoUsers}}
	if err := c.Create(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	rules.Verdict(t, c.Create(t.Context(), object, client.DryRunAll), "spec.scenarios[0].loads[0].parallelism",
		`load "search" has 2 users, and every k6 runner needs at least one: set parallelism to 2 or less, or add users`)
}

// A started experiment can be stopped despite faults: its spec is immutable.
func TestStartedExperimentCanBeStopped(t *testing.T) {
	c, _ := user(t)
	begun := rules.Object(t, valid)
	apply(t, begun, append(searching, change{"spec.design", "{blocks: 6, seed: 7, maxRuns: 20}"}))
	begun.SetNamespace(apiserver.Namespace(t, c))
	if err := c.Create(t.Context(), begun); err != nil {
		t.Fatal(err)
	}
	apply(t, begun, []change{{"status", `{startTime: "2026-03-01T12:00:00Z", phase: Running}`}})
	if err := c.Status().Update(t.Context(), begun); err != nil {
		t.Fatal(err)
	}
	script := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "search", Namespace: begun.GetNamespace()}, Data: map[string]string{"main.js": twoUsers}}
	if err := c.Create(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	rules.Verdict(t, update(t, begun, []change{{"spec.suspend", "true"}}), "", "")
	rules.Verdict(t, update(t, begun, []change{{"spec.design.blocks", "51"}}), "spec.design.maxRuns", "more than design.maxRuns of 20")
}
