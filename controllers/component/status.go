// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/environment"
	"perflab.dev/perflab/internal/kube"
	"perflab.dev/perflab/internal/kube/fit"
	"perflab.dev/perflab/internal/text/prose"
)

// MaxWarnings is what a status can list.
const MaxWarnings = 20

// PatchStatus cuts a status to what the API server takes, and writes it over the version
// this pass has read, and no other. Nothing is written where nothing has changed.
func PatchStatus(ctx context.Context, cluster kube.Cluster, kind string, before, after client.Object) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	leftOut, err := fitted(after)
	if err != nil {
		return fmt.Errorf("cutting the status of %s %q: %w", kind, after.GetName(), err)
	}
	if leftOut != "" {
		log.FromContext(ctx).Info("The status is cut", kind, after.GetName(), "leftOut", leftOut)
	}
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := cluster.Client.Status().Patch(ctx, after, patch, kube.FieldOwner); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the status of %s %q: %w", kind, after.GetName(), err)
	}
	return nil
}

// fitted cuts the status of an object, and tells in it what was left out.
func fitted(object client.Object) (leftOut string, err error) {
	switch object := object.(type) {
	case *v1alpha1.PerfRun:
		leftOut, err = fit.Status("perfruns", &object.Status)
		object.Status.Warnings = withLeftOut(object.Status.Warnings, leftOut)
	case *v1alpha1.PerfExperiment:
		leftOut, err = fit.Status("perfexperiments", &object.Status)
		object.Status.Warnings = withLeftOut(object.Status.Warnings, leftOut)
	case *v1alpha1.PerfSchedule:
		leftOut, err = fit.Status("perfschedules", &object.Status)
	}
	return leftOut, err
}

// withLeftOut are warnings with the one that tells what was left out. An earlier one of
// the kind gives way to it, and where the list is full, the last one.
func withLeftOut(warnings []string, leftOut string) []string {
	if leftOut == "" {
		return warnings
	}
	others := slices.DeleteFunc(slices.Clone(warnings), func(warning string) bool { return strings.HasPrefix(warning, fit.Begins) })
	return append(others[:min(len(others), MaxWarnings-1)], leftOut)
}

// TellRefused records an event if the API server refuses the status: the cause of the
// retries is visible nowhere else.
func (t *Tools) TellRefused(object client.Object, err error) {
	if kube.IsRefused(err) {
		t.Events.Eventf(object, nil, corev1.EventTypeWarning, v1alpha1.ReasonStatusRefused, "Write", "%s", prose.Sentence(err.Error()))
	}
}

// RefusedStatus is what the API server has against a status that it would never take;
// false: the error is another one. Such a status is not retried: others would wait for it
// forever.
func RefusedStatus(err error) (environment.Readiness, bool) {
	if !kube.IsInvalidStatus(err) {
		return environment.Readiness{}, false
	}
	return environment.NotReady(v1alpha1.ReasonStatusRefused, "the API server refuses the status: "+prose.Sentence(err.Error())), true
}
