// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// shared returns the valid experiment's system as a PerfSystem.
func shared(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	system, _, _ := unstructured.NestedMap(rules.Object(t, valid).Object, "spec", "system")
	made := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfSystem", "metadata": map[string]any{"name": "folio"}, "spec": system,
	}}
	made.SetNamespace("default")
	return made
}

func TestSystems(t *testing.T) {
	server.Config(t)
	cases := map[string]rule{
		"as it is":                   accept(),
		"more replicas than brokers": refuse("spec.kafka.topics[0].replicas", `the topics of group "data-import" have 4 replicas on 3 brokers`, change{"spec.kafka.topics.0.replicas", "4"}),
		"heap above the limit":       refuse("spec.modules[1].jvm.heap.max", `the heap of module "circulation" is 600Mi`, change{"spec.modules.1.jvm.heap.max", "600Mi"}),
		"unknown excluded module":    refuse("spec.postgres.readWriteSplit.exclude", `the system has no module "inventory"`, change{"spec.postgres.readWriteSplit.exclude", "[inventory]"}),
		"patch of nothing":           refuse("spec.patches[0]", "the patch of Pooler changes nothing: there is no Pooler", change{"spec.patches", "[{kind: Pooler, merge: {spec: {a: b}}}]"}),
		"misspelt affinity":          refuse("spec.kafka.brokers.placement.affinity.podAfinity", "an affinity has no such field", change{"spec.kafka.brokers.placement", "{affinity: {podAfinity: {}}}"}),
		"even controllers":           warn("2 nodes of kafka.controllers tolerate no more failures than 1: write an odd number, for example 3 (spec.kafka.controllers.replicas)", change{"spec.kafka.controllers.replicas", "2"}),
	}
	for name, rule := range cases {
		t.Run(name, func(t *testing.T) {
			object := shared(t)
			apply(t, object, rule.changes)
			c, told := user(t)
			err := c.Create(t.Context(), object, client.DryRunAll)
			rules.Verdict(t, err, rule.place, rule.sentence)
			rule.judgeWarnings(t, err, told.told)
		})
	}
}

// An experiment is validated with the system it refers to, as soon as that exists.
func TestExperimentsOfASharedSystem(t *testing.T) {
	c, told := user(t)
	namespace := apiserver.Namespace(t, c)
	ask := func(changes ...change) error {
		object := rules.Object(t, valid)
		object.SetNamespace(namespace)
		apply(t, object, append([]change{{"spec.system", ""}, {"spec.systemRef", "{name: folio}"}}, changes...))
		return c.Create(t.Context(), object, client.DryRunAll)
	}
	unknown := change{"spec.arms.1.set", "{modules: [{name: inventory, replicas: 2}]}"}
	rules.Verdict(t, ask(unknown), "", "")
	if all := strings.Join(told.told, "\n"); !strings.Contains(all, `there is no PerfSystem "folio" in namespace "`+namespace+`" yet`) {
		t.Errorf("was not warned that the system is missing, but of %q", all)
	}
	rules.Verdict(t, ask(change{"spec.arms.1.set", "{modules: [{name: a, replicas: 2}, {name: a, replicas: 3}]}"}), "spec.arms[1].set.modules[1].name", "twice")

	system := shared(t)
	system.SetNamespace(namespace)
	expect.NoError(t, c.Create(t.Context(), system), "making the system")
	rules.Verdict(t, ask(), "", "")
	rules.Verdict(t, ask(unknown), "spec.arms[1].set.modules[0].name", `the system has no module "inventory": write one of its modules (gateway, circulation)`)
	rules.Verdict(t, ask(change{"metadata.name", strings.Repeat("a", 32)}, change{"spec.arms.1.set", ""}), "", "")

	apply(t, system, []change{{"spec.modules.0.name", strings.Repeat("g", 40)}, {"spec.target.module", strings.Repeat("g", 40)}})
	expect.NoError(t, c.Update(t.Context(), system), "changing the system")
	rules.Verdict(t, ask(change{"metadata.name", strings.Repeat("a", 32)}), "spec.systemRef.name", `PerfSystem "folio": the experiment's name and module "gggg`)
}
