// SPDX-License-Identifier: Apache-2.0

package admission_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

const (
	annotations = "metadata.annotations"
	imported    = `{perflab.dev/imported: "lab/heap 1 2026-03-02T08:00:00Z"}`
	annotation  = "metadata.annotations[perflab.dev/imported]"
)

// A record may refer to missing objects, and violate today's rules.
func TestImportedExperimentIsNotValidated(t *testing.T) {
	faulty := change{set, `{modules: [{name: inventory, replicas: 2}]}`}
	missing := []change{{"spec.system", ""}, {"spec.systemRef", "{name: no-such-system}"}}
	judge(t, valid, map[string]rule{
		"measured here":                     refuse(aSet+".modules[0].name", `the system has no module "inventory"`, faulty),
		"measured elsewhere":                accept(faulty, change{annotations, imported}),
		"a missing system here":             warn(`there is no PerfSystem "no-such-system"`, missing...),
		"a missing system elsewhere":        accept(append(missing, change{annotations, imported})...),
		"what the schema refuses elsewhere": refuse("spec", "exactly one arm must have baseline: true", change{"spec.arms.0.baseline", "false"}, change{annotations, imported}),
	})
}

func TestImportedIsImmutable(t *testing.T) {
	record := storedRecord(t)
	for name, rule := range map[string]rule{
		"the annotation taken out": refuse(annotation, `an imported experiment is a record of what was measured elsewhere and stays imported: restore the annotation ("lab/heap 1 2026-03-02T08:00:00Z"), or create the experiment under another name to run it here`, change{annotations, ""}),
		"another origin":           refuse(annotation, "stays imported: restore the annotation", change{annotations, `{perflab.dev/imported: ""}`}),
		"another spec":             refuse("spec", "so its spec can't change: restore it, or create the changed experiment under another name", change{"spec.suspend", "true"}),
		"both":                     refuse(annotation, "stays imported: restore the annotation", change{"spec.suspend", "true"}, change{annotations, ""}),
		"another label":            accept(change{"metadata.labels", "{team: storage}"}),
		"another annotation":       accept(change{annotations, `{perflab.dev/imported: "lab/heap 1 2026-03-02T08:00:00Z", team: storage}`}),
	} {
		t.Run(name, func(t *testing.T) { rules.Verdict(t, update(t, record, rule.changes), rule.place, rule.sentence) })
	}
	for name, live := range map[string]*unstructured.Unstructured{"pending": stored(t, false), "begun": stored(t, true)} {
		for _, value := range []string{imported, `{perflab.dev/imported: ""}`} {
			t.Run(name+" with "+value, func(t *testing.T) {
				rules.Verdict(t, update(t, live, []change{{annotations, value}}), annotation,
					"an experiment that was created here can't become an imported one: remove the annotation, and set spec.suspend: true")
			})
		}
	}
}

func storedRecord(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	c, _ := user(t)
	made := rules.Object(t, valid)
	apply(t, made, []change{{annotations, imported}})
	made.SetNamespace(apiserver.Namespace(t, c))
	expect.NoError(t, c.Create(t.Context(), made), "making the record")
	return made
}
