// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// RawResults reads the ConfigMaps with a run's raw results one by one: those of all runs
// are too large to list at once. Missing ones are left out: the observations are in the
// run.
func RawResults(ctx context.Context, reader client.Reader, run *v1alpha1.PerfRun) ([]corev1.ConfigMap, error) {
	var found []corev1.ConfigMap
	for _, name := range naming.RawNames(run) {
		raw := corev1.ConfigMap{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: run.Namespace, Name: name}, &raw)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the raw results of run %q: %w", run.Name, err)
		}
		found = append(found, raw)
	}
	return found, nil
}

// Notes reads the ConfigMaps of an experiment's notes. One that is missing or forbidden is
// left out, and the report mentions it.
func Notes(ctx context.Context, reader client.Reader, experiment *v1alpha1.PerfExperiment) ([]corev1.ConfigMap, error) {
	var found []corev1.ConfigMap
	for _, name := range experiment.Spec.NoteConfigMaps() {
		kept := corev1.ConfigMap{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: experiment.Namespace, Name: name}, &kept)
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading ConfigMap %q with notes: %w", name, err)
		}
		found = append(found, kept)
	}
	return found, nil
}
