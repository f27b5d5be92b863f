// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/internal/naming"
)

// systemKey is the entry of the ConfigMap that holds the copy of a system.
const systemKey = "system.json"

// missingSystemPause is the time between two looks for a PerfSystem.
const missingSystemPause = 10 * time.Second

// +kubebuilder:rbac:groups=perflab.dev,resources=perfsystems,verbs=get;list;watch

// system is what the experiment is about: what it says itself, or a copy of
// the PerfSystem it refers to. The copy is made once, in a ConfigMap that can't
// be edited, so that nobody changes the system under a running experiment. It
// is nil when the PerfSystem is not there, or is nothing the experiment can work
// with.
func (r *Reconciler) system(ctx context.Context, s *scope) (*v1alpha1.System, error) {
	if s.experiment.Spec.SystemRef == nil {
		return &s.experiment.Spec.System, nil
	}
	copied := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: s.experiment.Namespace, Name: naming.SystemCopy(s.experiment.Name)}
	err := r.Live.Get(ctx, key, copied)
	if err == nil && metav1.IsControlledBy(copied, s.experiment) {
		return readSystem(copied)
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading the copy of the system: %w", err)
	}
	return r.copySystem(ctx, s)
}

func readSystem(copied *corev1.ConfigMap) (*v1alpha1.System, error) {
	system := &v1alpha1.System{}
	if err := json.Unmarshal([]byte(copied.Data[systemKey]), system); err != nil {
		return nil, fmt.Errorf("reading the copy of the system in ConfigMap %q: %w", copied.Name, err)
	}
	return system, nil
}

func (r *Reconciler) copySystem(ctx context.Context, s *scope) (*v1alpha1.System, error) {
	original := &v1alpha1.PerfSystem{}
	key := client.ObjectKey{Namespace: s.experiment.Namespace, Name: s.experiment.Spec.SystemRef.Name}
	err := r.Cluster.Client.Get(ctx, key, original)
	if apierrors.IsNotFound(err) {
		s.unknownSystem = true
		s.after = missingSystemPause
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading PerfSystem %q: %w", key.Name, err)
	}
	if !s.sound(&original.Spec) {
		// Not copied yet, so that it can be mended.
		s.after = missingSystemPause
		return nil, nil
	}
	encoded, err := json.Marshal(original.Spec)
	if err != nil {
		return nil, fmt.Errorf("copying PerfSystem %q: %w", key.Name, err)
	}
	copied := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       key.Namespace,
			Name:            naming.SystemCopy(s.experiment.Name),
			Labels:          naming.Labels(s.experiment.Name),
			OwnerReferences: []metav1.OwnerReference{naming.Owner("PerfExperiment", s.experiment)},
		},
		Data:      map[string]string{systemKey: string(encoded)},
		Immutable: ptr.To(true),
	}
	if err := r.Cluster.ApplyTyped(ctx, copied); err != nil {
		return nil, err
	}
	return &original.Spec, nil
}
