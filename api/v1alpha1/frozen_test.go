// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
)

// stored makes the valid experiment for real and, if it has begun, says so in
// its status as the operator does.
func stored(t *testing.T, begun bool) *unstructured.Unstructured {
	t.Helper()
	c := user(t)
	made := experiment(t, change{"spec.design", "{blocks: 6, seed: 7}"})
	made.SetNamespace(apiserver.Namespace(t, c))
	if err := c.Create(t.Context(), made); err != nil {
		t.Fatalf("making the experiment: %v", err)
	}
	if begun {
		apply(t, made, change{"status", `{startTime: "2026-03-01T12:00:00Z", phase: Running}`})
		if err := c.Status().Update(t.Context(), made); err != nil {
			t.Fatalf("writing its status: %v", err)
		}
	}
	return made
}

// frozen are changes of everything that must not change, and where a person is
// told so.
func frozen() map[string]rule {
	sentence := func(field string) string {
		return "the experiment has begun, so only suspend, cleanup and design.blocks (upwards) may change: put " + field +
			" back, or give the changed experiment a new name"
	}
	return map[string]rule{
		"another system":      refuse("spec.system", sentence("spec.system"), change{"spec.system.kafka.version", "4.2.0"}),
		"another environment": refuse("spec.system", sentence("spec.system"), change{"spec.system.modules.1.env", "[{name: A, value: b}]"}),
		"other arms":          refuse("spec.arms", sentence("spec.arms"), change{"spec.arms.1.set.kafka.topics.0.partitions", "8"}),
		"another baseline":    refuse("spec.arms", sentence("spec.arms"), change{"spec.arms.0.baseline", "false"}, change{"spec.arms.1.baseline", "true"}),
		"one arm more":        refuse("spec.arms", sentence("spec.arms"), change{"spec.arms.2", "{name: third}"}),
		"other scenarios":     refuse("spec.scenarios", sentence("spec.scenarios"), change{"spec.scenarios.0.loads.0.duration", "31m"}),
		"another seed":        refuse("spec.design", sentence("spec.design.order and spec.design.seed"), change{"spec.design.seed", "8"}),
		"no seed":             refuse("spec.design", sentence("spec.design.order and spec.design.seed"), change{"spec.design.seed", ""}),
		"another order":       refuse("spec.design", sentence("spec.design.order and spec.design.seed"), change{"spec.design.order", "Fixed"}),
		"another warm-up":     refuse("spec.measurement", sentence("spec.measurement"), change{"spec.measurement.warmUp", "1m"}),
		"another reset":       refuse("spec.reset", sentence("spec.reset"), change{"spec.reset", "None"}),
		"other validity":      refuse("spec.validity", sentence("spec.validity"), change{"spec.validity.maxErrorPercent", "5"}),
		"other deadlines":     refuse("spec.deadlines", sentence("spec.deadlines"), change{"spec.deadlines.load", "3h"}),
		"fewer blocks":        refuse("spec.design.blocks", "the experiment has begun, so design.blocks may only be raised", change{"spec.design.blocks", "5"}),
	}
}

// free are changes a person may make at any time.
func free() map[string]rule {
	return map[string]rule{
		"nothing":     accept(),
		"suspend":     accept(change{"spec.suspend", "true"}),
		"clean-up":    accept(change{"spec.cleanup", "{policy: Retain, ttl: 1h}"}),
		"more blocks": accept(change{"spec.design.blocks", "7"}),
		"metadata":    accept(change{"metadata.labels", "{team: storage}"}, change{"metadata.finalizers", "[perflab.dev/environment]"}),
	}
}

func TestTheSpecIsFrozenOnceTheExperimentHasBegun(t *testing.T) {
	begun := stored(t, true)
	for _, rules := range []map[string]rule{frozen(), free()} {
		for name, rule := range rules {
			t.Run(name, func(t *testing.T) { verdict(t, update(t, begun, rule.changes), rule.place, rule.sentence) })
		}
	}
}

func TestEverythingMayChangeBeforeTheExperimentHasBegun(t *testing.T) {
	pending := stored(t, false)
	for _, rules := range []map[string]rule{frozen(), free()} {
		for name, rule := range rules {
			t.Run(name, func(t *testing.T) { verdict(t, update(t, pending, rule.changes), "", "") })
		}
	}
}

// update asks the API server whether it would take the changes.
func update(t *testing.T, object *unstructured.Unstructured, changes []change) error {
	t.Helper()
	changed := object.DeepCopy()
	apply(t, changed, changes...)
	return user(t).Update(t.Context(), changed, client.DryRunAll)
}
