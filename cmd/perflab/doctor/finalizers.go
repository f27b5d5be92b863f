// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"perflab.dev/perflab/cmd/perflab/cluster"
	"perflab.dev/perflab/cmd/perflab/console"

	corev1 "k8s.io/api/core/v1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/text/prose"
)

// removeFinalizers is the flag that removes finalizers of deleted objects without
// an operator.
const removeFinalizers = "remove-finalizers"

// checkDeletedObjects checks for objects whose deletion waits for a missing operator.
func checkDeletedObjects(ctx context.Context, reader client.Reader) []Finding {
	const subject = "deleted objects"
	waiting, err := deletedObjects(ctx, reader)
	switch {
	case apierrors.IsForbidden(err):
		return []Finding{{subject, stateWarning, "unknown: you can't list them in all namespaces"}}
	case err != nil:
		return []Finding{{subject, stateMissing, err.Error()}}
	case len(waiting) == 0:
		return nil
	}
	return []Finding{{subject, stateMissing, fmt.Sprintf("%s for the operator, %s first: reinstall it to clean up, or remove their finalizers, which leaves adopted workloads and topics in external brokers unchanged: kubectl perflab doctor --%s",
		prose.Counted(len(waiting), "object")+" "+prose.Verb(len(waiting), "waits", "wait"), objectName(waiting[0]), removeFinalizers)}}
}

// deletedObjects returns deleted objects with the operator's finalizer.
func deletedObjects(ctx context.Context, reader client.Reader) ([]client.Object, error) {
	experiments, ledgers := &v1alpha1.PerfExperimentList{}, &corev1.ConfigMapList{}
	if err := reader.List(ctx, experiments); err != nil {
		return nil, fmt.Errorf("listing experiments: %w", err)
	}
	if err := reader.List(ctx, ledgers, client.MatchingLabels{v1alpha1.LabelComponent: environment.ComponentTopic}); err != nil {
		return nil, fmt.Errorf("listing ConfigMaps: %w", err)
	}
	var all []client.Object
	for i := range experiments.Items {
		all = append(all, &experiments.Items[i])
	}
	for i := range ledgers.Items {
		all = append(all, &ledgers.Items[i])
	}
	return slices.DeleteFunc(all, func(object client.Object) bool {
		return object.GetDeletionTimestamp() == nil || !controllerutil.ContainsFinalizer(object, v1alpha1.Finalizer)
	}), nil
}

// removeStaleFinalizers removes the finalizers of deleted objects, and writes
// their names.
func removeStaleFinalizers(ctx context.Context, writer client.Client, out io.Writer) error {
	switch found := checkOperator(ctx, writer); found[0].State {
	case stateOK:
		return fmt.Errorf("%s is running, and removes finalizers after cleanup: run kubectl describe on the object to see what it is waiting for", found[0].Message)
	case stateWarning:
		return fmt.Errorf("%s: finalizers can only be removed if no operator is running; ask an administrator to run this command", found[0].Message)
	case stateMissing:
	}
	waiting, err := deletedObjects(ctx, writer)
	if err != nil {
		return err
	}
	if len(waiting) == 0 {
		return errors.New("no deleted object waits for the operator")
	}
	p := console.NewPage(out)
	for _, object := range waiting {
		name := objectName(object)
		patch := client.MergeFromWithOptions(object.DeepCopyObject().(client.Object), client.MergeFromWithOptimisticLock{}) //nolint:forcetypeassert // A copy of an object is one.
		controllerutil.RemoveFinalizer(object, v1alpha1.Finalizer)
		if err := writer.Patch(ctx, object, patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("removing the finalizer of %s: %w", name, err)
		}
		p.Write(name + ": finalizer removed")
	}
	return p.Err
}

// objectName is the kind, namespace and name of an object with a finalizer.
func objectName(object client.Object) string {
	kind := "ConfigMap"
	if _, is := object.(*v1alpha1.PerfExperiment); is {
		kind = cluster.ExperimentKind
	}
	return fmt.Sprintf("%s %s/%s", kind, object.GetNamespace(), object.GetName())
}
