// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"perflab.dev/perflab/api/v1alpha1"
	"perflab.dev/perflab/controllers/component"
	"perflab.dev/perflab/internal/naming"
	"perflab.dev/perflab/internal/planning/arms"
)

// systemKey is the entry of the ConfigMap that holds the copy of a system.
const systemKey = "system.json"

// missingSystemPause is the time between two reads of a missing PerfSystem.
const missingSystemPause = 10 * time.Second

// +kubebuilder:rbac:groups=perflab.dev,resources=perfsystems,verbs=get;list;watch

// system returns the system of the experiment: that of its spec, or a copy of the PerfSystem that
// it refers to. The copy is in an immutable ConfigMap, so that the system of a running experiment
// can't change. Before the first run the copy is not trusted: a user who can write ConfigMaps could
// have created it with contents that admission did not check. Afterwards the plan's hash in the
// status reveals a replaced copy. The system is nil if the PerfSystem is missing or invalid.
func (r *Reconciler) system(ctx context.Context, s *scope) (*v1alpha1.System, error) {
	if s.Experiment.Spec.SystemRef == nil {
		return &s.Experiment.Spec.System, nil
	}
	copied, err := r.systemCopy(ctx, s.Experiment)
	if err != nil {
		return nil, err
	}
	if copied != nil && s.hasBegun() {
		return readSystem(copied)
	}
	return r.copySystem(ctx, s, copied)
}

// systemCopy returns the existing copy; nil if the experiment has none.
func (r *Reconciler) systemCopy(ctx context.Context, experiment *v1alpha1.PerfExperiment) (*corev1.ConfigMap, error) {
	copied, err := r.OwnConfigMap(ctx, experiment, naming.SystemCopy(experiment.Name))
	if err != nil {
		return nil, fmt.Errorf("reading the copy of the system: %w", err)
	}
	return copied, nil
}

// mostCopied bounds a copy, which is about as long as the PerfSystem, in bytes. Longer ones are
// ignored: a megabyte takes fifty when it is decoded.
const mostCopied = 512 << 10

func readSystem(copied *corev1.ConfigMap) (*v1alpha1.System, error) {
	if size := len(copied.Data[systemKey]); size > mostCopied {
		return nil, fmt.Errorf("the copy of the system in ConfigMap %q has %d bytes, more than any PerfSystem", copied.Name, size)
	}
	system := &v1alpha1.System{}
	if err := json.Unmarshal([]byte(copied.Data[systemKey]), system); err != nil {
		return nil, fmt.Errorf("reading the copy of the system in ConfigMap %q: %w", copied.Name, err)
	}
	return system, nil
}

// copySystem copies the system, and deletes an existing copy of another one.
func (r *Reconciler) copySystem(ctx context.Context, s *scope, earlier *corev1.ConfigMap) (*v1alpha1.System, error) {
	original := &v1alpha1.PerfSystem{}
	key := client.ObjectKey{Namespace: s.Experiment.Namespace, Name: s.Experiment.Spec.SystemRef.Name}
	err := r.Cluster.Client.Get(ctx, key, original)
	if apierrors.IsNotFound(err) {
		s.spec.isSystemMissing = true
		s.Requeue(missingSystemPause)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading PerfSystem %q: %w", key.Name, err)
	}
	if isValid, err := r.validate(ctx, s, &original.Spec); err != nil || !isValid {
		// It is not copied yet, so that users can fix it.
		s.Requeue(missingSystemPause)
		return nil, err
	}
	// The defaults are part of the copy, so that an operator with others keeps the plan.
	system := arms.Defaulted(&s.Experiment.Spec, original.Spec)
	encoded, err := json.Marshal(system)
	if err != nil {
		return nil, fmt.Errorf("copying PerfSystem %q: %w", key.Name, err)
	}
	if earlier != nil && earlier.Data[systemKey] != string(encoded) {
		if err := r.Cluster.Delete(ctx, s.Experiment, earlier); err != nil {
			return nil, err
		}
	}
	if err := r.Cluster.ApplyTyped(ctx, systemCopyOf(s.Experiment, string(encoded))); err != nil {
		return nil, err
	}
	return &system, nil
}

func systemCopyOf(experiment *v1alpha1.PerfExperiment, encoded string) *corev1.ConfigMap {
	copied := component.EmptyConfigMap(experiment, naming.SystemCopy(experiment.Name))
	copied.Data = map[string]string{systemKey: encoded}
	copied.Immutable = ptr.To(true)
	return copied
}
