// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// stored creates the valid experiment and, if it has started, writes its status as the
// operator does.
func stored(t *testing.T, begun bool) *unstructured.Unstructured {
	t.Helper()
	c, _ := user(t)
	made := rules.Object(t, valid)
	apply(t, made, []change{{"spec.design", "{blocks: 6, seed: 7}"}})
	made.SetNamespace(apiserver.Namespace(t, c))
	expect.NoError(t, c.Create(t.Context(), made), "making the experiment")
	if begun {
		apply(t, made, []change{{"status", `{startTime: "2026-03-01T12:00:00Z", phase: Running}`}})
		expect.NoError(t, c.Status().Update(t.Context(), made), "writing its status")
	}
	return made
}

// frozen returns changes of every immutable field, with the expected path and message.
func frozen() map[string]rule {
	sentence := func(field string) string {
		return "the experiment has started, so only suspend, cleanup, retention, lane, notes, design.maxRuns, design.target.maxBlocks, design.budget and design.blocks (upwards) may change: restore " + field +
			", or give the changed experiment a new name; if you do not need its runs, delete the experiment and apply the changed one"
	}
	return map[string]rule{
		"another system":      refuse("spec.system", sentence("spec.system"), change{"spec.system.kafka.version", "4.2.0"}),
		"another environment": refuse("spec.system", sentence("spec.system"), change{"spec.system.modules.1.env", "[{name: A, value: b}]"}),
		"fewer partitions":    refuse("spec.system", sentence("spec.system"), change{"spec.system.kafka.topics.0.partitions", "1"}),
		"a shared system":     refuse("spec.systemRef", sentence("spec.systemRef"), change{"spec.system", ""}, change{"spec.systemRef", "{name: other}"}),
		"other arms":          refuse("spec.arms", sentence("spec.arms"), change{"spec.arms.1.set.kafka.topics.0.partitions", "8"}),
		"another baseline":    refuse("spec.arms", sentence("spec.arms"), change{"spec.arms.0.baseline", "false"}, change{"spec.arms.1.baseline", "true"}),
		"one arm more":        refuse("spec.arms", sentence("spec.arms"), change{"spec.arms.2", "{name: third}"}),
		"a matrix": refuse("spec.matrix", sentence("spec.matrix"), change{"spec.arms", ""},
			change{"spec.matrix", "{factors: [{name: f, levels: [{name: a}, {name: b, set: {modules: [{name: gateway, replicas: 2}]}}]}]}"}),
		"other scenarios": refuse("spec.scenarios", sentence("spec.scenarios"), change{"spec.scenarios.0.loads.0.duration", "31m"}),
		"another seed":    refuse("spec.design", sentence("spec.design.order, seed, calibrate and target.halfWidthPercent or verdicts"), change{"spec.design.seed", "8"}),
		"no seed":         refuse("spec.design", sentence("spec.design.order, seed, calibrate and target.halfWidthPercent or verdicts"), change{"spec.design.seed", ""}),
		"another order":   refuse("spec.design", sentence("spec.design.order, seed, calibrate and target.halfWidthPercent or verdicts"), change{"spec.design.order", "Fixed"}),
		"a twin":          refuse("spec.design", sentence("spec.design.order, seed, calibrate and target.halfWidthPercent or verdicts"), change{"spec.design.calibrate", "true"}),
		"a target":        refuse("spec.design", sentence("spec.design.order, seed, calibrate and target.halfWidthPercent or verdicts"), change{"spec.design.target", "{halfWidthPercent: 3, maxBlocks: 12}"}),
		"another metric":  refuse("spec.analysis", sentence("spec.analysis"), change{"spec.analysis", "{primary: [cico/Check-In/p95]}"}),
		"another margin":  refuse("spec.analysis", sentence("spec.analysis"), change{"spec.analysis", "{marginPercent: 3}"}),
		"another warm-up": refuse("spec.measurement", sentence("spec.measurement"), change{"spec.measurement.warmUp", "1m"}),
		"another reset":   refuse("spec.reset", sentence("spec.reset"), change{"spec.reset", "None"}),
		"a restore":       refuse("spec.restore", sentence("spec.restore"), change{"spec.reset", "RestoreData"}, change{"spec.restore", "{http: {path: /restore}}"}),
		"warmth":          refuse("spec.keepWarm", sentence("spec.keepWarm"), change{"spec.keepWarm", "true"}),
		"a price list":    refuse("spec.cost", sentence("spec.cost"), change{"spec.cost", "{priceList: {name: prices}}"}),
		"other validity":  refuse("spec.validity", sentence("spec.validity"), change{"spec.validity.maxErrorPercent", "5"}),
		"other deadlines": refuse("spec.deadlines", sentence("spec.deadlines"), change{"spec.deadlines.load", "3h"}),
		"fewer blocks":    refuse("spec.design.blocks", "the experiment has started, so design.blocks may only be raised above 6: a planned block can't be removed", change{"spec.design.blocks", "5"}),
	}
}

// free returns changes that are allowed at any time.
func free() map[string]rule {
	return map[string]rule{
		"nothing":     accept(),
		"suspend":     accept(change{"spec.suspend", "true"}),
		"clean-up":    accept(change{"spec.cleanup", "{policy: Retain, ttl: 1h}"}),
		"retention":   accept(change{"spec.retention", "{rawResults: 720h, rawResultsOf: 12, runs: 8760h}"}),
		"history":     accept(change{"spec.history", "{rawResults: 720h, rawResultsOf: 12, runs: 8760h}"}),
		"lane":        accept(change{"spec.lane", "{type: Named, name: m5}"}),
		"more blocks": accept(change{"spec.design.blocks", "7"}),
		"more runs":   accept(change{"spec.design.maxRuns", "400"}),
		"notes":       accept(change{"spec.notes", `[{name: cause, text: "**GC**"}, {name: stopped, at: "2026-03-09T07:12:44Z", text: container stopped}]`}),
		"metadata":    accept(change{"metadata.labels", "{team: storage}"}, change{"metadata.finalizers", "[perflab.dev/environment]"}),
	}
}

func TestSpecIsImmutableOnceStarted(t *testing.T) {
	begun := stored(t, true)
	for _, cases := range []map[string]rule{frozen(), free()} {
		for name, rule := range cases {
			t.Run(name, func(t *testing.T) { rules.Verdict(t, update(t, begun, rule.changes), rule.place, rule.sentence) })
		}
	}
	t.Run("more runs than meant", func(t *testing.T) {
		rules.Verdict(t, update(t, begun, []change{{"spec.design.blocks", "51"}}), "spec.design.maxRuns",
			"2 arms, 2 scenarios and 51 blocks make 204 runs, more than design.maxRuns of 200: write maxRuns: 204 if that is intended, or fewer blocks")
	})
}

// The interim analyses share the error probability, so none may be added or removed.
func TestInterimAnalysesAreImmutable(t *testing.T) {
	const sentence = "the experiment has started, and its error probability is spent over interim analyses after blocks 6 to 20: restore design.blocks and design.target.maxBlocks"
	c, _ := user(t)
	begun := stored(t, false)
	apply(t, begun, []change{{"spec.design", "{blocks: 6, seed: 7, target: {verdicts: true, maxBlocks: 20}}"}})
	expect.NoError(t, c.Update(t.Context(), begun))
	apply(t, begun, []change{{"status", `{startTime: "2026-03-01T12:00:00Z", phase: Running}`}})
	expect.NoError(t, c.Status().Update(t.Context(), begun))
	rules.Verdict(t, update(t, begun, []change{{"spec.design.target.maxBlocks", "24"}}), "spec.design", sentence)
	rules.Verdict(t, update(t, begun, []change{{"spec.design.blocks", "8"}}), "spec.design", sentence)
	rules.Verdict(t, update(t, begun, []change{{"spec.design.target", "{halfWidthPercent: 3, maxBlocks: 20}"}}), "spec.design", "restore spec.design.order, seed, calibrate and target.halfWidthPercent or verdicts")
	rules.Verdict(t, update(t, begun, []change{{"spec.design.budget", "48h"}}), "", "")
}

func TestSpecIsMutableBeforeStart(t *testing.T) {
	pending := stored(t, false)
	for _, cases := range []map[string]rule{frozen(), free()} {
		for name, rule := range cases {
			t.Run(name, func(t *testing.T) { rules.Verdict(t, update(t, pending, rule.changes), "", "") })
		}
	}
}

// An experiment that was stored without validation can still be labelled and
// deleted. It is validated when its spec changes.
func TestStoredObjectsCanBeDeleted(t *testing.T) {
	c, _ := user(t)
	faulty := rules.Object(t, valid)
	apply(t, faulty, []change{
		{"spec.system", ""},
		{"spec.systemRef", "{name: folio}"},
		{"spec.arms.1.set", "{modules: [{name: inventory, replicas: 2}]}"},
		{"metadata.finalizers", "[perflab.dev/environment]"},
	})
	system := shared(t)
	faulty.SetNamespace(apiserver.Namespace(t, c))
	system.SetNamespace(faulty.GetNamespace())
	for _, object := range []*unstructured.Unstructured{faulty, system} {
		expect.NoError(t, c.Create(t.Context(), object), "making %s", object.GetName())
	}
	rules.Verdict(t, update(t, faulty, []change{{"metadata.labels", "{team: storage}"}}), "", "")
	rules.Verdict(t, update(t, faulty, []change{{"spec.suspend", "true"}}), "spec.arms[1].set.modules[0].name", `the system has no module "inventory"`)
	expect.NoError(t, c.Delete(t.Context(), faulty), "deleting the experiment")
	rules.Verdict(t, update(t, faulty, []change{{"metadata.finalizers", ""}}), "", "")
}

// update applies the changes in a dry run.
func update(t *testing.T, object *unstructured.Unstructured, changes []change) error {
	t.Helper()
	c, _ := user(t)
	changed := &unstructured.Unstructured{}
	changed.SetGroupVersionKind(object.GroupVersionKind())
	expect.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), changed), "reading the experiment")
	apply(t, changed, changes)
	return c.Update(t.Context(), changed, client.DryRunAll)
}
