// SPDX-License-Identifier: Apache-2.0

package component

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// OwnConfigMap reads a ConfigMap that the experiment owns, past the cache, which holds none;
// nil if there is none with the name, or it has another owner.
func (t *Tools) OwnConfigMap(ctx context.Context, experiment *v1alpha1.PerfExperiment, name string) (*corev1.ConfigMap, error) {
	found := &corev1.ConfigMap{}
	err := t.Live.Get(ctx, client.ObjectKey{Namespace: experiment.Namespace, Name: name}, found)
	if err != nil || !metav1.IsControlledBy(found, experiment) {
		return nil, client.IgnoreNotFound(err)
	}
	return found, nil
}

// EmptyConfigMap is a ConfigMap that the experiment owns.
func EmptyConfigMap(experiment *v1alpha1.PerfExperiment, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       experiment.Namespace,
			Name:            name,
			Labels:          naming.Labels(experiment.Name),
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", experiment)},
		},
	}
}
