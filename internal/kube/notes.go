// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
)

// Notes reads the ConfigMaps that an experiment's notes are kept in. One that is not
// there, or may not be read, is left out: a report says so in the note's place.
func Notes(ctx context.Context, reader client.Reader, experiment *v1alpha1.PerfExperiment) ([]corev1.ConfigMap, error) {
	var found []corev1.ConfigMap
	for _, name := range experiment.Spec.NoteConfigMaps() {
		kept := corev1.ConfigMap{}
		err := reader.Get(ctx, client.ObjectKey{Namespace: experiment.Namespace, Name: name}, &kept)
		if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading ConfigMap %q, in which notes are kept: %w", name, err)
		}
		found = append(found, kept)
	}
	return found, nil
}
