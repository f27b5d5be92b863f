// SPDX-License-Identifier: Apache-2.0

// Package objects builds PerfExperiments and PerfRuns for tests. Edits and tests may change
// each result.
package objects

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// Experiment returns one of namespace "lab" whose UID is its name: one block of the arms
// "one", which is the baseline, and "two" under the scenario "search", with up to three
// attempts.
func Experiment(name string, edits ...func(*v1alpha1.PerfExperiment)) *v1alpha1.PerfExperiment {
	made := &v1alpha1.PerfExperiment{}
	made.Namespace, made.Name, made.UID = "lab", name, types.UID(name)
	made.Spec.Arms = []v1alpha1.Arm{{Name: "one", Baseline: true}, {Name: "two"}}
	made.Spec.Scenarios = []v1alpha1.Scenario{{Name: "search"}}
	made.Spec.Design.Blocks, made.Spec.Validity.MaxAttempts = 1, 3
	return edited(made, edits)
}

// Run returns the first attempt at the first run of an experiment, which owns it.
func Run(of *v1alpha1.PerfExperiment, name string, edits ...func(*v1alpha1.PerfRun)) *v1alpha1.PerfRun {
	made := &v1alpha1.PerfRun{Spec: v1alpha1.PerfRunSpec{
		Experiment: of.Name, PlanHash: of.Status.PlanHash, Block: 1, Position: 1, Attempt: 1,
		Arm: of.Spec.Arms[0].Name, System: of.Spec.System, Scenario: of.Spec.Scenarios[0],
	}}
	made.Namespace, made.Name = of.Namespace, name
	made.OwnerReferences = []metav1.OwnerReference{naming.Owner("PerfExperiment", of)}
	edited(made, edits)
	made.Labels = naming.RunLabels(made)
	return made
}

func edited[T any](made *T, edits []func(*T)) *T {
	for _, edit := range edits {
		edit(made)
	}
	return made
}
