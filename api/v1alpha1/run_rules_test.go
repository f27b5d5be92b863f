// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/testing/apiserver"
	"perflab.dev/perflab/internal/testing/expect"
	"perflab.dev/perflab/internal/testing/rules"
)

// aRun returns a run as the operator creates it from the valid experiment.
func aRun(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	valid := rules.Object(t, rules.Valid)
	system, _, _ := unstructured.NestedMap(valid.Object, "spec", "system")
	scenarios, _, _ := unstructured.NestedSlice(valid.Object, "spec", "scenarios")
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "perflab.dev/v1alpha1", "kind": "PerfRun",
		"metadata": map[string]any{"name": "valid-1-one", "namespace": apiserver.Namespace(t, user(t))},
		"spec": map[string]any{
			"experiment": valid.GetName(), "planHash": "5d1c0e7b3a9f4c21", "block": int64(1), "position": int64(1), "attempt": int64(1),
			"arm": "one", "system": system, "scenario": scenarios[0], "seed": int64(7),
		},
	}}
}

func TestRunSpecIsImmutable(t *testing.T) {
	stored := aRun(t)
	if err := user(t).Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	const immutable = "the spec of a run can't be changed, because it records what was measured; to measure something else, apply a PerfExperiment with another name"
	for name, rule := range map[string]rule{
		"as it is":              accept(),
		"a label":               accept(change{"metadata.labels", "{team: storage}"}),
		"a finalizer":           accept(change{"metadata.finalizers", "[example.org/keep]"}),
		"another arm":           refuse("spec", immutable, change{"spec.arm", "two"}),
		"another plan":          refuse("spec", immutable, change{"spec.planHash", "0123456789abcdef"}),
		"another scenario name": refuse("spec", immutable, change{"spec.scenario.name", "other"}),
		"a field added":         refuse("spec", immutable, change{"spec.keepWarm", "true"}),
		"a field removed":       refuse("spec", immutable, change{"spec.seed", "0"}),
	} {
		t.Run(name, func(t *testing.T) { verdict(t, update(t, stored, rule.changes), rule.place, rule.sentence) })
	}
}

// A write of the status does not change the spec.
func TestRunStatusUpdateIgnoresSpec(t *testing.T) {
	stored := aRun(t)
	if err := user(t).Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	apply(t, stored, change{"status", "{phase: Loading}"}, change{"spec.arm", "two"})
	if err := user(t).Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	read := stored.DeepCopy()
	if err := user(t).Get(t.Context(), client.ObjectKeyFromObject(stored), read); err != nil {
		t.Fatal(err)
	}
	if arm, _, _ := unstructured.NestedString(read.Object, "spec", "arm"); arm != "one" {
		t.Errorf("the arm is %q after a write of the status", arm)
	}
}

// A comparison may have the reasons of the reference, and statuses of earlier versions have none.
func TestWithheldReasons(t *testing.T) {
	stored := experiment(t)
	stored.SetNamespace(apiserver.Namespace(t, user(t)))
	if err := user(t).Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	write := func(withheld string) error {
		apply(t, stored, change{"status", "{comparisons: [{scenario: s, metric: m, arm: two, blocks: 6, scale: ratio" + withheld + "}]}"})
		return user(t).Status().Update(t.Context(), stored)
	}
	for _, reason := range []string{
		v1alpha1.ReasonTooFewBlocks, v1alpha1.ReasonBeforeFirstAnalysis, v1alpha1.ReasonErrorRatesDiffer, v1alpha1.ReasonTwinDiffers,
		v1alpha1.ReasonChangedBySettings, v1alpha1.ReasonDirectionUnknown, v1alpha1.ReasonNoInterval,
	} {
		if err := write(", withheld: " + reason); err != nil {
			t.Errorf("%s is refused: %v", reason, err)
		}
	}
	if err := write(""); err != nil {
		t.Errorf("a status of an earlier version is refused: %v", err)
	}
	if err := write(", withheld: Whim"); err == nil {
		t.Error("a reason that the reference lacks is accepted")
	}
}

// What a run records beside its warnings is stored as it is.
func TestRunStatusKeepsFactsOfWarnings(t *testing.T) {
	stored := aRun(t)
	if err := user(t).Create(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	apply(t, stored, change{"status", `{
		advisedWarmUp: 2m30s, truncated: "2 nodes", leftOut: [{load: cico, window: during-create-5k, reason: TooManyErrors, message: m}, {message: m}],
		evidence: {renderedChange: {since: a, of: [Kafka], message: m}}}`})
	want, _, _ := unstructured.NestedMap(stored.Object, "status")
	if err := user(t).Status().Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	got, _, _ := unstructured.NestedMap(stored.Object, "status")
	for name, field := range want {
		expect.Equal(t, field, got[name], "%s", name)
	}
}
