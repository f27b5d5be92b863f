// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
)

// What the runs of one experiment gave can be a hundred megabytes.
func TestOnePassAtATimeHoldsWhatRunsGave(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	body := runOf("heap", is(v1alpha1.RunSucceeded))
	body.UID = "1"
	body.Status.Observations = []v1alpha1.Observation{{Metric: "search/Search/p95", Value: "12", Unit: "ms"}}
	byExperiment := func(object client.Object) []string { return []string{object.(*v1alpha1.PerfRun).Spec.Experiment} } //nolint:forcetypeassert // Nothing else is indexed.
	reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(body).WithIndex(&v1alpha1.PerfRun{}, component.FieldExperiment, byExperiment).Build()
	r := &Reconciler{}
	r.Live = reader
	summed := func() *scope {
		experiment := &v1alpha1.PerfExperiment{}
		experiment.Namespace, experiment.Name = "lab", "heap"
		return &scope{experiment: experiment, runs: []v1alpha1.PerfRun{*component.Summary(body)}}
	}
	first, second := summed(), summed()
	if full, err := r.fullRuns(t.Context(), first); err != nil || len(full) != 1 || len(full[0].Status.Observations) != 1 {
		t.Fatalf("the first has %+v (%v)", full, err)
	}
	if _, err := r.fullRuns(t.Context(), second); !errors.Is(err, errBusy) {
		t.Errorf("the second has it beside the first: %v", err)
	}
	r.letGo(second)
	r.letGo(first)
	if _, err := r.fullRuns(t.Context(), second); err != nil {
		t.Errorf("once the first is done: %v", err)
	}
}
