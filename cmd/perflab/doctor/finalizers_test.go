// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/testing/expect"
)

// A deleted experiment without its operator remains; doctor reports it, and removes its
// finalizer on request.
func TestDoctorRemovesStaleFinalizers(t *testing.T) {
	meta := func(name string, deleted bool, finalizers ...string) metav1.ObjectMeta {
		made := metav1.ObjectMeta{Namespace: "lab", Name: name, Finalizers: finalizers}
		if deleted {
			made.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
		}
		return made
	}
	ledger := &corev1.ConfigMap{ObjectMeta: meta("heap-topics-1", true, v1alpha1.Finalizer)}
	ledger.Labels = map[string]string{v1alpha1.LabelComponent: environment.ComponentTopic}
	others := &corev1.ConfigMap{ObjectMeta: meta("others", true, "example.org/others")}
	objects := []client.Object{
		&v1alpha1.PerfExperiment{ObjectMeta: meta("heap", true, v1alpha1.Finalizer, "example.org/others")},
		&v1alpha1.PerfExperiment{ObjectMeta: meta("living", false, v1alpha1.Finalizer)}, ledger, others,
	}
	scheme := runtime.NewScheme()
	expect.NoError(t, clientgoscheme.AddToScheme(scheme))
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	build := func(more ...client.Object) client.Client {
		return fake.NewClientBuilder().WithScheme(scheme).WithObjects(more...).Build()
	}

	alone := build(objects...)
	found := checkDeletedObjects(t.Context(), alone)
	if len(found) != 1 || found[0].State != stateMissing {
		t.Fatalf("findings: %+v", found)
	}
	expect.Contains(t, found[0].Message, []string{"2 objects wait for the operator, PerfExperiment lab/heap first", "kubectl perflab doctor --remove-finalizers"})

	var out strings.Builder
	expect.NoError(t, removeStaleFinalizers(t.Context(), alone, &out))
	expect.Equal(t, "PerfExperiment lab/heap: finalizer removed\nConfigMap lab/heap-topics-1: finalizer removed\n", out.String())
	heap, living := &v1alpha1.PerfExperiment{}, &v1alpha1.PerfExperiment{}
	expect.NoError(t, alone.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: "heap"}, heap))
	expect.Equal(t, []string{"example.org/others"}, heap.Finalizers, "finalizers of others")
	expect.NoError(t, alone.Get(t.Context(), client.ObjectKey{Namespace: "lab", Name: "living"}, living))
	expect.Equal(t, []string{v1alpha1.Finalizer}, living.Finalizers, "finalizers of an experiment that is not deleted")
	expect.Equal(t, 0, len(checkDeletedObjects(t.Context(), alone)), "findings afterwards")

	served := build(append(objects, operatorWith(1))...)
	if err := removeStaleFinalizers(t.Context(), served, &out); err == nil || !strings.Contains(err.Error(), "perflab-system/perflab-operator") {
		t.Errorf("beside an operator that works: %v", err)
	}
	hidden := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), interceptor.Funcs{
		List: func(ctx context.Context, to client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, is := list.(*appsv1.DeploymentList); is {
				return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "", nil)
			}
			return to.List(ctx, list, options...)
		},
	})
	if err := removeStaleFinalizers(t.Context(), hidden, &out); err == nil || !strings.Contains(err.Error(), "you can't list Deployments") {
		t.Errorf("without the right to list Deployments: %v", err)
	}
}
