// SPDX-License-Identifier: Apache-2.0

package cache_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/contract"
	"perflab.dev/perflab/internal/environment/kafka"
	"perflab.dev/perflab/internal/kube/cache"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/testing/expect"
)

// folioRun returns a run of ninety modules with a thousand observations.
func folioRun(phase v1alpha1.RunPhase) *v1alpha1.PerfRun {
	run := &v1alpha1.PerfRun{}
	run.Namespace, run.Name, run.UID = "lab", "folio-1-base-cico-0123456789", "1"
	run.Spec.Experiment, run.Spec.Arm, run.Spec.Block, run.Spec.Attempt, run.Spec.PlanHash = "folio", "base", 1, 2, "abc"
	run.Spec.Scenario = v1alpha1.Scenario{Name: "cico", Loads: []v1alpha1.Load{{Name: "cico", CheckInCheckOut: &v1alpha1.CheckInCheckOut{Users: 8}}}}
	for n := range 90 {
		run.Spec.System.Modules = append(run.Spec.System.Modules, v1alpha1.Module{Name: fmt.Sprintf("mod-%d", n), Image: strings.Repeat("x", 100)})
	}
	for n := range 1000 {
		run.Status.Observations = append(run.Status.Observations, v1alpha1.Observation{Metric: fmt.Sprintf("cico/Check-In-%d/p95", n), Value: "12.3", Unit: "ms"})
	}
	run.Status.Phase, run.Status.Message = phase, "load failed"
	run.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionKafkaReady, Status: metav1.ConditionTrue},
		{Type: v1alpha1.ConditionValid, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonLoadFailed, Message: "load failed"},
	}
	run.Status.Loads = []v1alpha1.LoadStatus{{Name: "cico", TestRun: "folio-1-cico", ExitCode: 107, Message: "load failed"}}
	return run
}

// The cache may hold tens of thousands of them.
func TestStrippedRunIsSmall(t *testing.T) {
	whole, summary := size(t, folioRun(v1alpha1.RunInvalid)), size(t, cache.StripRun(folioRun(v1alpha1.RunInvalid)))
	if summary > 2000 || whole < 50000 {
		t.Errorf("of a run of %d bytes %d are kept in mind", whole, summary)
	}
}

// Thousands of complete experiments may stay for years.
func TestStrippedExperimentIsSmall(t *testing.T) {
	experiment := func(settled string) *v1alpha1.PerfExperiment {
		made := &v1alpha1.PerfExperiment{}
		made.Name, made.Status.Phase, made.Status.Settled = "folio", v1alpha1.ExperimentComplete, settled
		made.Spec.Design.Blocks, made.Status.PlanHash = 6, "abc"
		// Three bytes of text each.
		made.Spec.System.Modules = []v1alpha1.Module{{Name: "one", Placement: &v1alpha1.Placement{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: make([]corev1.PodAffinityTerm, 1000),
		}}}}}
		made.Spec.Arms, made.Spec.Matrix, made.Spec.Notes = make([]v1alpha1.Arm, 100), &v1alpha1.Matrix{}, make([]v1alpha1.Note, 30)
		made.Spec.Scenarios, made.Spec.Restore, made.Spec.Measurement.WarmUp = make([]v1alpha1.Scenario, 10), &v1alpha1.Restore{}, &metav1.Duration{}
		made.Status.Arms = []v1alpha1.ArmStatus{{Name: "base", Baseline: true}}
		for n := range 1000 {
			made.Status.Results = append(made.Status.Results, v1alpha1.Result{Metric: fmt.Sprintf("cico/Check-In-%d/p95", n), Mean: "12.3"})
			made.Status.Comparisons = append(made.Status.Comparisons, v1alpha1.Comparison{Metric: fmt.Sprintf("cico/Check-In-%d/p95", n)})
		}
		return made
	}
	whole, outline := experiment("abc"), cache.StripExperiment(experiment("abc"))
	if size(t, outline) > 2000 || size(t, whole) < 50000 {
		t.Errorf("of an experiment of %d bytes %d are kept in mind", size(t, whole), size(t, outline))
	}
	whole.Status.Results, whole.Status.Comparisons = nil, nil
	whole.Spec = v1alpha1.PerfExperimentSpec{Design: whole.Spec.Design}
	expect.Equal(t, whole, outline, "what decides whether it rests")
	expect.Equal(t, experiment(""), cache.StripExperiment(experiment("")), "of one that goes on")
}

// An imported run never continues, and a megabyte of its text takes fifty when decoded.
func TestStripRunStripsImportedRuns(t *testing.T) {
	run := folioRun(v1alpha1.RunPending)
	run.Annotations = map[string]string{v1alpha1.AnnotationImported: "elsewhere/folio 1 2026-01-02T03:04:05Z"}
	if summary := size(t, cache.StripRun(run)); summary > 2000 {
		t.Errorf("%d bytes are kept in mind", summary)
	}
}

// A stripped run has the fields that determine the next run.
func TestStripRunKeepsOutcome(t *testing.T) {
	run := folioRun(v1alpha1.RunInvalid)
	run.Labels = naming.RunLabels(run)
	run.OwnerReferences = []metav1.OwnerReference{naming.Owner("PerfExperiment", &metav1.ObjectMeta{Name: "folio", UID: "2"})}
	got, want := cache.StripRun(run), &v1alpha1.PerfRun{ObjectMeta: run.ObjectMeta}
	want.Labels = map[string]string{v1alpha1.LabelExperiment: "folio"}
	want.Spec = v1alpha1.PerfRunSpec{Experiment: "folio", Arm: "base", Block: 1, Attempt: 2, PlanHash: "abc", Scenario: v1alpha1.Scenario{Name: "cico"}}
	want.Status = v1alpha1.PerfRunStatus{
		Phase: v1alpha1.RunInvalid, Message: "load failed", Conditions: run.Status.Conditions[1:],
		Loads: []v1alpha1.LoadStatus{{Name: "cico", TestRun: "folio-1-cico", ExitCode: 107}},
	}
	expect.Equal[any](t, want, got)
}

// A reconcile of an active run updates the status that it read.
func TestStripRunKeepsActiveRuns(t *testing.T) {
	run := folioRun(v1alpha1.RunCollecting)
	expect.Equal(t, folioRun(v1alpha1.RunCollecting), cache.StripRun(run))
}

// Few of a cluster's tens of thousands of workloads and Services are ours.
func TestStripTransformKeepsIdentityOfOtherObjects(t *testing.T) {
	object := func(kind schema.GroupVersionKind, labels, annotations map[string]string) *unstructured.Unstructured {
		made := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(2)}, "status": map[string]any{"replicas": int64(2)}}}
		made.SetGroupVersionKind(kind)
		made.SetNamespace("lab")
		made.SetName("shop")
		made.SetUID("1")
		made.SetLabels(labels)
		made.SetAnnotations(annotations)
		made.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Shop", Name: "shop", UID: "2"}})
		made.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "helm"}})
		return made
	}
	deployment := appsv1.SchemeGroupVersion.WithKind("Deployment")
	for name, tc := range map[string]struct {
		kind                schema.GroupVersionKind
		labels, annotations map[string]string
		whole               bool
	}{
		"a foreign Deployment":    {deployment, map[string]string{"app": "shop"}, map[string]string{"a": "b"}, false},
		"a foreign Service":       {corev1.SchemeGroupVersion.WithKind("Service"), nil, nil, false},
		"a foreign Role":          {rbacv1.SchemeGroupVersion.WithKind("Role"), nil, nil, false},
		"an experiment's":         {deployment, map[string]string{v1alpha1.LabelExperiment: "x"}, map[string]string{v1alpha1.AnnotationFingerprint: "b"}, true},
		"a runner's Job":          {batchv1.SchemeGroupVersion.WithKind("Job"), map[string]string{contract.LabelTestRun: "x"}, nil, true},
		"a borrowed one":          {deployment, nil, map[string]string{v1alpha1.AnnotationBorrowedBy: "lab.x"}, true},
		"another operator's kind": {contract.TestRunKind, nil, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			given := object(tc.kind, tc.labels, tc.annotations)
			want := given.DeepCopy()
			want.SetManagedFields(nil)
			if !tc.whole {
				want.SetAnnotations(nil)
				delete(want.Object, "spec")
				delete(want.Object, "status")
			}
			got, err := cache.StripTransform()(given)
			expect.NoError(t, err)
			expect.Equal[any](t, want, got)
		})
	}
}

func size(t *testing.T, object any) int {
	t.Helper()
	text, err := json.Marshal(object)
	expect.NoError(t, err)
	return len(text)
}

// Runs, also finished ones, name the external brokers in which cleanup deletes topics.
func TestStripRunKeepsExternalBrokers(t *testing.T) {
	run := folioRun(v1alpha1.RunSucceeded)
	run.Spec.System.Kafka = &v1alpha1.Kafka{Provider: v1alpha1.KafkaProviderStrimzi}
	expect.Equal(t, v1alpha1.System{}, cache.StripRun(run).Spec.System, "a Kafka of the experiment's own")
	run.Spec.System.Kafka = &v1alpha1.Kafka{Provider: v1alpha1.KafkaProviderExternal, External: &v1alpha1.ExternalKafka{
		BootstrapServers: []string{"b-1.example.org:9096"}, SASL: &v1alpha1.KafkaSASL{CredentialsSecret: v1alpha1.SecretName{Name: "msk"}},
	}}
	expect.Equal(t, kafka.NewLedgerRef(run), kafka.NewLedgerRef(cache.StripRun(run)), "ledger")
}
