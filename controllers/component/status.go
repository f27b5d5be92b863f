// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"
	"fmt"
	"slices"

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

// MaxWarnings is the limit of warnings in a status.
const MaxWarnings = 20

// PatchStatus truncates a status to what the API server accepts, and patches it with an
// optimistic lock. It writes nothing if nothing has changed.
func PatchStatus(ctx context.Context, cluster kube.Cluster, kind string, before, after client.Object) error {
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	leftOut, err := fitStatus(after)
	if err != nil {
		return fmt.Errorf("truncating the status of %s %q: %w", kind, after.GetName(), err)
	}
	if leftOut != "" {
		log.FromContext(ctx).Info("Truncated the status", kind, after.GetName(), "leftOut", leftOut)
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

// fitStatus truncates the status of an object, and adds a warning that lists the omitted fields.
func fitStatus(object client.Object) (leftOut string, err error) {
	switch object := object.(type) {
	case *v1alpha1.PerfRun:
		leftOut, err = fit.Status("perfruns", &object.Status)
		recordTruncation(&object.Status.Warnings, &object.Status.Truncated, leftOut)
	case *v1alpha1.PerfExperiment:
		leftOut, err = fit.Status("perfexperiments", &object.Status)
		recordTruncation(&object.Status.Warnings, &object.Status.Truncated, leftOut)
	case *v1alpha1.PerfSchedule:
		leftOut, err = fit.Status("perfschedules", &object.Status)
	}
	return leftOut, err
}

// recordTruncation replaces an earlier warning of what was left out, or the last one of a full
// list. A truncated status fits the next time, so nothing left out keeps the earlier one.
func recordTruncation(warnings *[]string, truncated *string, leftOut string) {
	if leftOut == "" {
		return
	}
	earlier := []string{*truncated, leftOut}
	others := slices.DeleteFunc(slices.Clone(*warnings), func(warning string) bool { return slices.Contains(earlier, warning) })
	*warnings, *truncated = append(others[:min(len(others), MaxWarnings-1)], leftOut), leftOut
}

// RecordStatusRefusal records an event if the API server refuses the status: nothing else shows
// why the operator retries.
func (t *Tools) RecordStatusRefusal(object client.Object, err error) {
	if kube.IsRefused(err) {
		t.Events.Eventf(object, nil, corev1.EventTypeWarning, v1alpha1.ReasonStatusRefused, "Write", "%s", prose.Sentence(err.Error()))
	}
}

// StatusRefusalReadiness is the readiness if the API server will never accept a status, and
// false for other errors. Such a status is not retried: the queue would wait forever.
func StatusRefusalReadiness(err error) (environment.Readiness, bool) {
	if !kube.IsInvalidStatus(err) {
		return environment.Readiness{}, false
	}
	return environment.NotReady(v1alpha1.ReasonStatusRefused, "the API server refuses the status: "+prose.Sentence(err.Error())), true
}
